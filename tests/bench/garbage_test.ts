import { assert } from "@std/assert";
import { measureGarbage } from "../../bench/garbage_run.ts";

/**
 * In bytes: a seventh more than a request took, 49,200, and a third more than a chunk, which differs more. Source:
 * docs/decisions/0335-bytes-of-a-request.md.
 */
const MAX_REQUEST_BYTES = 56_500;
const MAX_CHUNK_BYTES = 4_000;

Deno.test("garbage: a chunk and a JSON request allocate no more on the heap than they did", async () => {
  const { chunkBytes, requestBytes, bareChunkBytes } = await measureGarbage({
    warmUp: 4_000,
    count: 1_500,
    timeoutMs: 300_000,
  });
  assert(chunkBytes <= MAX_CHUNK_BYTES, `a chunk allocates ${chunkBytes} bytes`);
  assert(requestBytes <= MAX_REQUEST_BYTES, `a request allocates ${requestBytes} bytes`);
  assert(bareChunkBytes > 0, "a chunk of the bare proxy allocates nothing");
});
