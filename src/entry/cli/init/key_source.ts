import type { Environment } from "../../../config/tree/expansion.ts";
import { UsageError } from "../usage_error.ts";

/** How a key is given: arguments are visible to other users of the machine, so the key itself is not one. */
const EXPECTATION = "expected @FILE, @- for the standard input, or env:NAME, not a key, which other users could see";

/**
 * Reads a key from where an option says that it is.
 *
 * @param source `@FILE`, `@-` or `env:NAME`.
 * @throws {UsageError} If there is no key. The message does not have the text of the option.
 */
export async function readKeySource(vendor: string, source: string, env: Environment): Promise<string> {
  const key = await textAt(source, vendor, env);
  if (key.trim() !== "") return key.trim();
  throw new UsageError(`switchyard init: --key: found no key of ${vendor} there`);
}

async function textAt(source: string, vendor: string, env: Environment): Promise<string> {
  if (source === "@-") return await new Response(Deno.stdin.readable).text();
  if (source.startsWith("env:")) return env(source.slice("env:".length)) ?? "";
  if (source.length < 2 || !source.startsWith("@")) throw new UsageError(`switchyard init: --key: ${EXPECTATION}`);
  try {
    return await Deno.readTextFile(source.slice(1));
  } catch (error) {
    const reason = error instanceof Error ? error.name : "unknown";
    throw new UsageError(`switchyard init: --key: cannot read the file of ${vendor}: ${reason}`);
  }
}
