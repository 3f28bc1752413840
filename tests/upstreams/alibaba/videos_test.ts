import { assertEquals, assertRejects } from "@std/assert";
import { wanVideos } from "../../../src/vendors/upstreams/alibaba/videos.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type { VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const URL = "https://example.invalid/out.mp4";
const JOB = { id: "task-1", place: null };
const task = (task_status: string, more: object = {}, usage: object | null = null) =>
  ok({ request_id: "r-1", output: { task_id: "task-1", task_status, ...more }, usage });
const error = (code: string, message: string) => ({ request_id: "r-1", code, message });
const completed = (seconds: number | null) => ({
  status: "completed" as const,
  results: [{ url: URL, needsCredential: false }],
  consumption: { seconds, costUsd: null },
});

videoUpstreamContract("Wan", {
  open: wanVideos,
  basePath: "",
  order: videoOrder({ model: "wan3.0-video" }),
  created: { answer: task("PENDING"), handle: JOB },
  longId: { answer: ok('{"output":{"task_id":"90071992547409931"}}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [task("PENDING")], means: { status: "pending", isRunning: false } },
    { answers: [task("RUNNING")], means: { status: "pending", isRunning: true } },
    {
      answers: [task("SUCCEEDED", { video_url: URL }, { output_video_duration: 5, duration: 12 })],
      means: completed(5),
    },
    { answers: [task("SUCCEEDED", { video_url: URL }, { duration: 5 })], means: completed(5) },
    { answers: [task("SUCCEEDED", { video_url: URL })], means: completed(null) },
    {
      answers: [task("FAILED", { code: "DataInspectionFailed", message: "Inappropriate content" })],
      means: { status: "failed", code: "content_policy_violation", message: "Inappropriate content" },
    },
    {
      answers: [task("FAILED", { code: "InternalError", message: "Boom" })],
      means: { status: "failed", code: "upstream_error", message: "Boom" },
    },
    { answers: [task("CANCELED")], means: { status: "cancelled" } },
    { answers: [task("UNKNOWN")], means: { status: "expired" } },
  ],
  unknownStatus: { answers: [task("SUSPENDED")], status: "SUSPENDED" },
  emptySuccesses: [[task("SUCCEEDED")], [task("SUCCEEDED", { video_url: "" })]],
  contentRefusals: [{
    status: 400,
    body: error("DataInspectionFailed", "Input data may contain inappropriate content."),
  }],
  refusal: (message) => error("SomeNewWord", message),
  cancels: [
    { answers: [task("PENDING"), ok({ request_id: "r-1" })], outcome: "cancelled" },
    {
      answers: [task("PENDING"), { status: 400, body: error("UnsupportedOperation", "no") }, task("RUNNING")],
      outcome: "too_late",
    },
    { answers: [task("RUNNING")], outcome: "too_late" },
    { answers: [task("SUCCEEDED", { video_url: URL })], outcome: "gone" },
    { answers: [task("CANCELED")], outcome: "cancelled" },
  ],
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([task("PENDING")], async ({ outbound, vendor }) => {
    await wanVideos(outbound).create(videoOrder(order));
    const { path, body, headers } = itemAt(vendor.seen, 0);
    assertEquals(headers.get("x-dashscope-async"), "enable");
    return { path: path.replace("/api/v1/services/aigc/", ""), ...JSON.parse(body) };
  });
}

const FIRST = { mode: "img2video" as const, firstFrame: mediaAt("image", "https://example.invalid/a") };
const BOTH = { ...FIRST, mode: "img2video_end" as const, lastFrame: mediaAt("image", "https://example.invalid/b") };
const MIXED = { mode: "mixref2video" as const, references: [mediaAt("image"), mediaAt("video")] };
const SYNTHESIS = "video-generation/video-synthesis";

Deno.test("Wan 3: one model supports every mode with a list of media", async () => {
  const order = { model: "wan3.0-video", aspectRatio: "9:16", seed: 7, generateAudio: false };
  assertEquals(await sent(order), {
    path: SYNTHESIS,
    model: "wan3.0-video",
    input: { prompt: "a lighthouse" },
    parameters: { resolution: "720P", ratio: "9:16", duration: 5, seed: 7, audio: false },
  });
  assertEquals((await sent({ ...order, ...BOTH })).input.media, [
    { type: "first_frame", url: "https://example.invalid/a" },
    { type: "last_frame", url: "https://example.invalid/b" },
  ]);
  const { input } = await sent({ ...order, ...MIXED, references: [...MIXED.references, mediaAt("audio")] });
  assertEquals(input.media.map(({ type }: { type: string }) => type), [
    "reference_image",
    "reference_video",
    "reference_audio",
  ]);
});

Deno.test("Wan before version 3: the mode selects the model of a family, and each model has its own inputs", async () => {
  const modelAnd = async (order: Partial<VideoOrder>) => {
    const { path, model, input: { prompt: _, ...input }, parameters: { duration: _five, ...parameters } } = await sent(
      order,
    );
    return [path, model, input, parameters];
  };
  const model = "wan2.7";
  assertEquals(await modelAnd({ model, aspectRatio: "1:1" }), [SYNTHESIS, "wan2.7-t2v", {}, {
    resolution: "720P",
    ratio: "1:1",
  }]);
  assertEquals(await modelAnd({ model, ...FIRST, aspectRatio: "1:1" }), [
    SYNTHESIS,
    "wan2.7-i2v",
    { img_url: "https://example.invalid/a" },
    { resolution: "720P" },
  ]);
  assertEquals((await modelAnd({ model, ...MIXED }))[2], {
    media: [
      { type: "reference_image", url: "https://example.invalid/image" },
      { type: "reference_video", url: "https://example.invalid/video" },
    ],
  });
  const older = "wan2.6";
  assertEquals(await modelAnd({ model: older }), [SYNTHESIS, "wan2.6-t2v", {}, { size: "1280*720" }]);
  assertEquals(await modelAnd({ model: older, ...MIXED, aspectRatio: "3:4", resolution: "1080p" }), [
    SYNTHESIS,
    "wan2.6-r2v",
    { reference_urls: ["https://example.invalid/image", "https://example.invalid/video"] },
    { size: "1248*1632" },
  ]);
  assertEquals(await modelAnd({ model: older, ...BOTH }), [
    "image2video/video-synthesis",
    "wan2.6-kf2v",
    { first_frame_url: "https://example.invalid/a", last_frame_url: "https://example.invalid/b" },
    { resolution: "720P" },
  ]);
  assertEquals((await modelAnd({ model: "wan2.6-i2v-flash", ...FIRST }))[1], "wan2.6-i2v-flash");
});

Deno.test("Wan: options are sent as parameters, a negative prompt as an input", async () => {
  const options = { prompt_extend: false, negative_prompt: "people", watermark: true };
  const { input, parameters } = await sent({ model: "wan3.0-video", options, durationSeconds: -1 });
  assertEquals(input, { prompt: "a lighthouse", negative_prompt: "people" });
  assertEquals(parameters, { prompt_extend: false, watermark: true, resolution: "720P" });
});

Deno.test("Wan: unsupported input is rejected before a request is sent, or named as dropped", async () => {
  const refused = async (order: Partial<VideoOrder>) => {
    const { kind, facts } = await withAnswers(
      [],
      ({ outbound }) => assertRejects(() => wanVideos(outbound).create(videoOrder(order)), UpstreamFailure),
    );
    assertEquals([kind, facts.accepted], ["invalid", "no"]);
    return facts.field;
  };
  assertEquals(await refused({ model: "wan2.6-i2v", ...BOTH }), "frame_images");
  assertEquals(await refused({ model: "wan2.7", ...MIXED, references: [mediaAt("audio")] }), "input_references");
  assertEquals(await refused({ model: "wan2.6", aspectRatio: "21:9" }), "aspect_ratio");
  await withAnswers([], ({ outbound }) => {
    const { droppedFields: dropped } = wanVideos(outbound);
    assertEquals(dropped!(videoOrder({ model: "wan2.7", generateAudio: false })), ["generate_audio"]);
    assertEquals(dropped!(videoOrder({ model: "wan3.0-video", generateAudio: false, seed: 1 })), []);
    return Promise.resolve();
  });
});

Deno.test("Wan: an account problem is not the caller's error", async () => {
  const kindOf = (status: number, code: string) =>
    withAnswers([{ status, body: error(code, "no") }], async ({ outbound }) => {
      return (await assertRejects(() => wanVideos(outbound).create(videoOrder()), UpstreamFailure)).kind;
    });
  assertEquals(await kindOf(400, "Arrearage"), "unavailable");
  assertEquals(await kindOf(401, "InvalidApiKey"), "auth");
  assertEquals(await kindOf(403, "AccessDenied"), "forbidden");
  assertEquals(await kindOf(429, "Throttling.RateQuota"), "rate_limited");
});

Deno.test({
  name: "Wan: recorded responses are read as recorded (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const recorded = (name: string) => [recordedAnswer(`alibaba/${name}`)!];
    const progress = (name: string) => withAnswers(recorded(name), ({ outbound }) => wanVideos(outbound).poll(JOB));
    const create = (name: string) =>
      withAnswers(recorded(name), ({ outbound }) => wanVideos(outbound).create(videoOrder({ model: "wan3.0-video" })));
    assertEquals(await create("create-pending"), { id: "task-abc-123", place: null });
    const unknown = await assertRejects(() => create("create-output-null"), UpstreamFailure);
    assertEquals(unknown.facts.accepted, "unknown");
    const refused = await assertRejects(() => create("shape-create-missing-async-header"), UpstreamFailure);
    assertEquals([refused.kind, refused.facts.accepted], ["forbidden", "no"]);
    const done = await progress("succeeded");
    assertEquals(done.status === "completed" && done.consumption.seconds, 5);
    assertEquals((await progress("poll-failed-content-policy")).status, "failed");
    assertEquals((await progress("shape-unknown-after-24h")).status, "expired");
  },
});
