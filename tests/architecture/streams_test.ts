import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source_files.ts";

/** The one file that may use the platform's controller. */
const WRAPPER = "src/platform/lib/streams/output_stream.ts";
/** It runs in the browser. */
const CLIENT = "src/console/client/";

/**
 * What writes a stream without the wrapper. A caller can leave at any instant, and the platform's controller then
 * throws within a callback that nothing holds, which ends the process.
 */
const DIRECT =
  /\bnew (?:ReadableStream|TransformStream|WritableStream)\b|\b(?:ReadableStream|TransformStream|WritableStream)DefaultController\b|\bReadableByteStreamController\b|\bcontroller\b[?!]?\.(?:enqueue|close|error|terminate)\b|\bReadableStream\.from\b/g;

Deno.test("streams: all of them are written by outputStream()", async () => {
  const found: string[] = [];
  for (const file of ["main.ts", ...await sourceFiles("src")]) {
    if (file === WRAPPER || file.startsWith(CLIENT)) continue;
    for (const [use] of (await Deno.readTextFile(join(ROOT, file))).matchAll(DIRECT)) found.push(`${file}: ${use}`);
  }
  assertEquals(found, []);
});
