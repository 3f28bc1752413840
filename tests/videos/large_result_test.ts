import { assert, assertEquals } from "@std/assert";
import { onResultStage } from "./result_stage.ts";

const GIGABYTE = 1_000_000_000;
const PIECE = new Uint8Array(65_536);
/** Tolerance for socket buffers and garbage; a buffered result would need ten times as much. */
const MAX_GROWTH_BYTES = 200_000_000;

/** A gigabyte, generated on demand. */
function gigabyte(): Response {
  let left = GIGABYTE;
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(PIECE.subarray(0, Math.min(left, PIECE.length)));
      left -= PIECE.length;
      if (left <= 0) controller.close();
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "video/mp4", "content-length": String(GIGABYTE) } });
}

/** Returns the memory of this thread; other threads run other tests. */
function heldBytes(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

/** Returns the maximum growth of memory during an operation. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = heldBytes();
  let max = before;
  const timer = setInterval(() => max = Math.max(max, heldBytes()), 10);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return max - before;
}

onResultStage("a gigabyte is copied and streamed without being buffered in memory", async (on) => {
  on.host.answer = gigabyte;
  const id = await on.complete();
  const copying = await growthDuring(async () => void await on.run("video_mirror"));
  assertEquals((await on.parts.files.find(`${id}-0.mp4`))?.bytes, GIGABYTE);
  assert(copying < MAX_GROWTH_BYTES, `${copying} bytes were held while it was copied`);
  await on.parts.files.remove(`${id}-0.mp4`);

  const request = { range: null, signal: new AbortController().signal };
  let bytes = 0;
  const streaming = await growthDuring(async () => {
    const { body } = (await on.videos.streamResult(`${id}-0.mp4`, request))!;
    for await (const piece of body) bytes += piece.length;
  });
  assertEquals(bytes, GIGABYTE);
  assert(streaming < MAX_GROWTH_BYTES, `${streaming} bytes were held while it was streamed`);
});
