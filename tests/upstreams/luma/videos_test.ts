import { assertEquals } from "@std/assert";
import { lumaVideos } from "../../../src/vendors/upstreams/luma/videos.ts";
import type { VideoMedia, VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { mediaAt, ok, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const JOB = { id: "5f1c2c1e-6c53-4d0e-8f6b-1d2c3b4a5f60", place: null };
const RESULT = "https://cdn.example.invalid/out.mp4";
const consumption = { seconds: null, costUsd: null };

const job = (state: string, more: object = {}) =>
  ok({ id: JOB.id, type: "video", model: "ray-3.2", created_at: "2026-11-01T10:00:00Z", state, ...more });
const created = { ...job("queued"), status: 201 };

videoUpstreamContract("Luma", {
  open: lumaVideos,
  basePath: "/v1",
  order: videoOrder(),
  created: { answer: created, handle: JOB },
  longId: { answer: ok('{"id":90071992547409931}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [job("queued", { output: null })], means: { status: "pending", isRunning: false } },
    { answers: [job("processing")], means: { status: "pending", isRunning: true } },
    {
      answers: [job("completed", { output: [{ type: "image", url: "x" }, { type: "video", url: RESULT }] })],
      means: { status: "completed", results: [{ url: RESULT, needsCredential: false }], consumption },
    },
    {
      answers: [job("failed", { failure_code: "content_moderated", failure_reason: "The prompt is not allowed" })],
      means: { status: "failed", code: "content_policy_violation", message: "The prompt is not allowed" },
    },
    {
      answers: [job("failed", { failure_code: "budget_exhausted" })],
      means: { status: "failed", code: "upstream_error", message: "budget_exhausted" },
    },
    {
      answers: [job("failed")],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
  ],
  unknownStatus: { answers: [job("dreaming")], status: "dreaming" },
  emptySuccesses: [
    [job("completed")],
    [job("completed", { output: null })],
    [job("completed", { output: [] })],
    [job("completed", { output: [{ type: "video", url: "" }] })],
  ],
  contentRefusals: [{ status: 400, body: { detail: "The prompt violates our content policy" } }],
  refusal: (detail) => ({ detail }),
  cancels: null,
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([created], async ({ outbound, vendor }) => {
    await lumaVideos(outbound).create(videoOrder({ model: "ray-3.2", ...order }));
    const { path, body } = itemAt(vendor.seen, 0);
    assertEquals(path, "/generations");
    const { model, type, prompt, ...fields } = JSON.parse(body);
    assertEquals([model, type, prompt], ["ray-3.2", "video", "a lighthouse"]);
    return fields;
  });
}

Deno.test("Luma videos: a text is sent with its shape and length, and the caller's options beside them", async () => {
  const order = { durationSeconds: 10, resolution: "480p", aspectRatio: "21:9" };
  assertEquals(await sent({ ...order, options: { user_id: "u", video: { loop: true, duration: "5s" } } }), {
    user_id: "u",
    aspect_ratio: "21:9",
    video: { loop: true, resolution: "540p", duration: "10s" },
  });
  assertEquals(await sent({ durationSeconds: -1, resolution: null }), { video: {} });
});

Deno.test("Luma videos: frames are sent by URL or as bytes with their type, and decide the ratio", async () => {
  const bytes: VideoMedia = { medium: "image", mediaType: "image/webp", form: "base64", value: "AAAA" };
  const order = {
    mode: "img2video_end",
    firstFrame: mediaAt("image", "https://example.invalid/a.png"),
    lastFrame: bytes,
    aspectRatio: "16:9",
  } as const;
  assertEquals(await sent(order), {
    video: {
      resolution: "720p",
      duration: "5s",
      start_frame: { url: "https://example.invalid/a.png" },
      end_frame: { data: "AAAA", media_type: "image/webp" },
    },
  });
});

Deno.test("Luma videos: fields that its requests do not have are named as dropped", () =>
  withAnswers([], ({ outbound }) => {
    const dropped = (order: Partial<VideoOrder>) => lumaVideos(outbound).droppedFields!(videoOrder(order));
    assertEquals(dropped({ seed: 1, generateAudio: true, aspectRatio: "1:1" }), ["seed", "generate_audio"]);
    const firstFrame = mediaAt("image");
    assertEquals(dropped({ firstFrame, aspectRatio: "1:1", generateAudio: false }), ["aspect_ratio"]);
    return Promise.resolve();
  }));
