import { assertEquals } from "@std/assert";
import { THREAD_MODULES } from "../../src/platform/lib/process/program_files.ts";

const SOURCE = new URL("../../src/", import.meta.url);

/** Threads that watch others, and are not watched. */
const WATCHING: ReadonlySet<string> = new Set(["entry/cli/process/watch_entry", "entry/cli/process/launcher_entry"]);

/** Where threads are started. Both make sure that descriptors are free: without one, the platform ends the process. */
const STARTING = ["platform/workers/web_thread.ts", "platform/workers/worker_thread.ts"];

Deno.test("source tree: every module that threads start with beats for the watch", async () => {
  const silent: string[] = [];
  for (const path of THREAD_MODULES) {
    if (WATCHING.has(path)) continue;
    const text = await Deno.readTextFile(new URL(`${path}.ts`, SOURCE));
    if (!/^startThreadHeartbeat\(\);$/m.test(text) && !/^serveJobs\(/m.test(text)) silent.push(path);
  }
  assertEquals(silent, []);
});

Deno.test("source tree: threads are started in few places", async () => {
  const starting: string[] = [];
  for await (const path of sourceFiles(SOURCE)) {
    const text = await Deno.readTextFile(new URL(path, SOURCE));
    if (/\bnew Worker\(/.test(text)) starting.push(path);
  }
  assertEquals(starting.sort(), STARTING);
});

/** The paths of all modules below a folder. */
async function* sourceFiles(folder: URL, prefix = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sourceFiles(new URL(`${name}/`, folder), `${prefix}${name}/`);
    else if (name.endsWith(".ts")) yield prefix + name;
  }
}
