import { assert } from "@std/assert";
import { measureGarbage } from "../../bench/garbage_run.ts";

/**
 * Half as much again as was measured after so short a warm-up, in bytes: 4,100 for a chunk, 75,000 for a request. V8
 * has not compiled all code by then, so a process that has run for a minute allocates a quarter less.
 */
const MAX_CHUNK_BYTES = 6_500;
const MAX_REQUEST_BYTES = 115_000;

Deno.test("garbage: a chunk and a JSON request allocate no more on the heap than they did", async () => {
  const { chunkBytes, requestBytes, bareChunkBytes } = await measureGarbage({
    warmUp: 2_000,
    count: 1_000,
    timeoutMs: 300_000,
  });
  assert(chunkBytes <= MAX_CHUNK_BYTES, `a chunk allocates ${chunkBytes} bytes`);
  assert(requestBytes <= MAX_REQUEST_BYTES, `a request allocates ${requestBytes} bytes`);
  assert(bareChunkBytes > 0, "a chunk of the bare proxy allocates nothing");
});
