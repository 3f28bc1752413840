import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Buffer } from "node:buffer";
import { isInstalled, run } from "./child.ts";
import { BENCH_FORMATS, MODES } from "./load_request.ts";
import { cannedReply } from "./canned_replies.ts";

/** The programs in C, compiled, and the file of replies that the upstream sends. */
export interface NativePrograms {
  readonly upstream: string;
  readonly generator: string;
  readonly repliesPath: string;
}

const COMPILE_MS = 60_000;

/**
 * Compiles the upstream and the generator into a folder.
 *
 * @returns The programs, or a sentence with the reason why there are none.
 */
export async function compileNative(folder: string): Promise<NativePrograms | string> {
  if (Deno.build.os !== "linux") return "they need Linux";
  if (!await isInstalled("cc")) return "no C compiler (`cc`) is installed";
  const repliesPath = join(folder, "replies");
  await Deno.writeFile(repliesPath, repliesFile());
  try {
    const [upstream, generator] = await Promise.all([compile("upstream", folder), compile("generator", folder)]);
    return { upstream, generator, repliesPath };
  } catch (error) {
    return `they could not be compiled: ${String(error).split("\n", 1)[0]}`;
  }
}

async function compile(name: string, folder: string): Promise<string> {
  const source = fileURLToPath(new URL(`./native/${name}.c`, import.meta.url));
  const target = join(folder, name);
  await run(["cc", "-O2", "-std=gnu11", "-o", target, source], { timeoutMs: COMPILE_MS });
  return target;
}

/** Every canned reply in the format that `native/upstream.c` describes. */
export function repliesFile(): Uint8Array<ArrayBuffer> {
  const parts = BENCH_FORMATS.flatMap((wire) =>
    MODES.flatMap((mode) => {
      const pieces = cannedReply(wire, mode);
      const head = Buffer.from(`reply ${mode} ${wire} ${pieces.length}\n`);
      return [head, ...pieces.flatMap((piece) => [Buffer.from(`${piece.length}\n`), piece])];
    })
  );
  return new Uint8Array(Buffer.concat(parts));
}
