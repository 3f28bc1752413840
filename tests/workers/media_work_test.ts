import { assert, assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { imageFactsOf } from "../../src/platform/lib/media/picture_head.ts";
import { MAX_AUDIO_PARSE_MS, measureAudioSeconds } from "../../src/platform/workers/audio_job.ts";
import { createMediaWork } from "../../src/platform/workers/media_work.ts";
import { findImageProblem } from "../../src/platform/workers/picture_problem.ts";
import { findDecodingProblem, reencodeImage } from "../../src/platform/workers/picture_jobs.ts";
import { jpegOfSegments, plainPng, wavOfEmptyChunks } from "../support/heavy_media.ts";
import { itemAt } from "../support/items.ts";

const DEMO = "demo";

async function testImage(width: number, height: number, type: string): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = new ImageData(new Uint8ClampedArray(width * height * 4).fill(200), width, height);
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("bitmaprenderer")!.transferFromImageBitmap(await createImageBitmap(pixels));
  return new Uint8Array(await (await canvas.convertToBlob({ type })).arrayBuffer());
}

/** A WAVE file of eight-bit silence. */
function wav(seconds: number): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(44 + seconds * 8_000);
  bytes.write("RIFF....WAVEfmt ", 0, "latin1");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  ([[16, 16, 4], [20, 1, 2], [22, 1, 2], [24, 8_000, 4], [28, 8_000, 4], [32, 1, 2], [34, 8, 2]] as const)
    .forEach(([at, value, length]) => bytes.writeUIntLE(value, at, length));
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(seconds * 8_000, 40);
  return new Uint8Array(bytes);
}

Deno.test("media work has the same result in a worker thread as in the calling thread", async () => {
  const media = createMediaWork({ clock: systemClock, log: silentLog });
  try {
    for (const bytes of [await testImage(60, 20, "image/png"), await testImage(60, 20, "image/jpeg"), plainPng(9, 9)]) {
      const checked = await media.checkPicture(bytes.slice(), DEMO);
      assertEquals(checked.problem, await findDecodingProblem(bytes));
      assertEquals(checked.bytes, bytes);
      const how = { mediaType: "image/png", maxSide: 30 } as const;
      assertEquals(await media.reencodePicture(bytes.slice(), how, DEMO), await reencodeImage(bytes, how));
    }
    assertEquals((await media.checkPicture(plainPng(9, 9).slice(0, 60), DEMO)).problem, "not_image");
    const clip = wav(3);
    assertEquals(await media.measureAudio(clip.slice(), "audio/wav", DEMO), { bytes: clip, seconds: 3 });
  } finally {
    media.close();
  }
});

Deno.test("media work does not transfer a buffer that its bytes share with others", async () => {
  const media = createMediaWork({ clock: systemClock, log: silentLog });
  const png = plainPng(9, 9);
  const shared = new Uint8Array(png.length + 10);
  shared.set(png, 5);
  try {
    await media.checkPicture(shared.subarray(5, 5 + png.length), DEMO);
    assertEquals(shared.slice(5, 5 + png.length), png);
  } finally {
    media.close();
  }
});

Deno.test("the main thread continues while an image of the maximum size is decoded", async () => {
  const media = createMediaWork({ clock: systemClock, log: silentLog });
  let isDecoded = false;
  let turns = 0;
  try {
    const decoding = media.checkPicture(plainPng(8_000, 8_000), DEMO).then(() => void (isDecoded = true));
    // On the main thread the decoding would block the event loop.
    while (!isDecoded) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      turns++;
    }
    await decoding;
    assert(turns > 10, `${turns} turns`);
  } finally {
    media.close();
  }
});

Deno.test("media work is 503 with Retry-After when the queue is full, and 500 when its thread ends", async () => {
  const crashes: ((reason: string) => void)[] = [];
  const media = createMediaWork({
    clock: systemClock,
    log: silentLog,
    start: ({ onCrash }) => {
      crashes.push(onCrash);
      return { post() {}, terminate() {}, setReferenced() {} };
    },
  });
  const check = () => media.checkPicture(plainPng(1, 1), DEMO);
  const running = assertRejects(check, GatewayError);
  const waiting = Array.from({ length: 32 }, () => assertRejects(check, GatewayError));
  const refusal = await assertRejects(check, GatewayError);
  assertEquals([refusal.status, refusal.details.retryAfterSeconds], [503, 5]);
  itemAt(crashes, 0)("ERR_WORKER_OUT_OF_MEMORY");
  assertEquals((await running).status, 500);
  media.close();
  await Promise.all(waiting);
});

Deno.test("images whose decoding costs more than their stated size are detected before they are decoded", () => {
  const facts = { width: 8_000, height: 8_000 } as const;
  const deep = plainPng(8_000, 8_000);
  deep[24] = 16;
  assertEquals(findImageProblem(deep, { ...facts, mediaType: "image/png" }), "too_large");
  assertEquals(findImageProblem(plainPng(8_000, 8_000), { ...facts, mediaType: "image/png" }), null);

  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x55];
  const progressive = (scans: number) =>
    new Uint8Array([0xff, 0xd8, ...new Array(scans).fill(scan).flat(), 0xff, 0xd9]);
  assertEquals(findImageProblem(progressive(64), { width: 9, height: 9, mediaType: "image/jpeg" }), null);
  assertEquals(findImageProblem(progressive(65), { width: 9, height: 9, mediaType: "image/jpeg" }), "too_large");
  assertEquals(
    findImageProblem(progressive(3).slice(0, -2), { width: 9, height: 9, mediaType: "image/jpeg" }),
    "not_image",
  );

  const gif = (width: number) =>
    new Uint8Array([...Buffer.from("GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0", "latin1"), width, 0xff, 1, 0, 0]);
  assertEquals(findImageProblem(gif(0xff), { width: 1, height: 1, mediaType: "image/gif" }), "not_image");

  const webp = new Uint8Array(64);
  webp.set(Buffer.from("RIFF....WEBPVP8X\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0VP8L\x0a\0\0\0\x2f\xff\xff\xff\x0f", "latin1"));
  assertEquals(findImageProblem(webp, { width: 1, height: 1, mediaType: "image/webp" }), "not_image");
});

Deno.test("secondsOfAudio() stops at a file that takes too long to read", async () => {
  let reads = 0;
  const now = () => (++reads > 1_000 ? MAX_AUDIO_PARSE_MS + 1 : 0);
  assertEquals(await measureAudioSeconds(wavOfEmptyChunks(1_000_000), "audio/wav", now), null);
  assert(reads < 2_000, `${reads} reads`);
});

Deno.test("pictureFactsOf() reads a JPEG's size after any number of segments", () => {
  assertEquals(imageFactsOf(jpegOfSegments(500_000)), { mediaType: "image/jpeg", width: 40, height: 30 });
  assertEquals(imageFactsOf(jpegOfSegments(1_100_000)), null);
});
