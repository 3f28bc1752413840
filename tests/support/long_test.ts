import { withPatience } from "./patience.ts";

/** The longest of these tests takes some minutes on a slow machine. */
const MAX_TEST_MS = 1_200_000;
/** Set by `deno task test:long`. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_LONG");

/**
 * Registers a test that kills gateways, puts load on them, or computes for more than a few seconds. `deno task test`
 * ignores it, and `deno task test:long`, which names its file, runs it. A test that waits for what never happens fails
 * after twenty minutes.
 */
export function longTest(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  if (isWanted) Deno.test(name, (t) => withPatience(name, fn(t), MAX_TEST_MS));
  else Deno.test({ name: `${name} (ignored: deno task test:long runs it)`, ignore: true, fn });
}
