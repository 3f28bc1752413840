import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { falVideos } from "../../../src/vendors/upstreams/fal/videos.ts";
import type { VideoOrder, VideoProgress } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const MODEL = "fal-ai/veo3.1";
const PLACE = "/fal-ai/veo3.1/requests/r-1";
const JOB = { id: "r-1", place: PLACE };
const URL = "https://example.invalid/out.mp4";

const inQueue = { status: 202, body: { status: "IN_QUEUE", queue_position: 3 } };
const ended = ok({ status: "COMPLETED", request_id: "r-1", logs: null });
const detail = (type: string, msg: string) => ({ detail: [{ loc: ["body"], msg, type }] });
const completed = (seconds: number | null): VideoProgress => ({
  status: "completed",
  results: [{ url: URL, needsCredential: false }],
  consumption: { seconds, costUsd: null },
});
const failedAs = (code: "content_policy_violation" | "upstream_error", message: string): VideoProgress => ({
  status: "failed",
  code,
  message,
});

videoUpstreamContract("fal", {
  open: falVideos,
  basePath: "",
  order: videoOrder({ model: MODEL }),
  created: { answer: ok({ request_id: "r-1", queue_position: 0 }), handle: JOB },
  longId: { answer: ok('{"request_id":9007199254740993}'), id: "9007199254740993" },
  job: JOB,
  progress: [
    { answers: [inQueue], means: { status: "pending", isRunning: false, queuePosition: 3 } },
    { answers: [{ status: 202, body: { status: "IN_PROGRESS" } }], means: { status: "pending", isRunning: true } },
    { answers: [ended, ok({ video: { url: URL, duration: 5.04 }, seed: 1 })], means: completed(5.04) },
    { answers: [ended, ok({ video: { url: URL, duration: null } })], means: completed(null) },
    { answers: [ended, ok({ video: URL })], means: completed(null) },
    { answers: [ended, ok({ videos: [{ url: URL }] })], means: completed(null) },
    {
      answers: [ended, ok({ video: { url: URL }, thumbnail: { url: `${URL}.jpg`, width: 1280 } })],
      means: { ...completed(null), extras: [{ type: "thumbnail", url: `${URL}.jpg` }] } as VideoProgress,
    },
    { answers: [ended, ok({ video: { url: URL }, thumbnail: 7 })], means: completed(null) },
    {
      answers: [ended, { status: 422, body: detail("content_policy_violation", "Flagged") }],
      means: failedAs("content_policy_violation", "Flagged"),
    },
    {
      answers: [ended, { status: 422, body: detail("value_error", "Too big") }],
      means: failedAs("upstream_error", "Too big"),
    },
    { answers: [ended, { status: 500, body: { detail: "Boom" } }], means: failedAs("upstream_error", "Boom") },
    {
      answers: [ok({ status: "COMPLETED", error: "The runner left", error_type: "runner_disconnected" })],
      means: failedAs("upstream_error", "The runner left"),
    },
    {
      answers: [ok({ status: "COMPLETED", error: "Flagged", error_type: "content_policy_violation" })],
      means: failedAs("content_policy_violation", "Flagged"),
    },
    {
      answers: [ended, ok({ video: { url: URL }, has_nsfw_concepts: [true] })],
      means: failedAs("content_policy_violation", "The video was rejected by the vendor's content check"),
    },
    {
      answers: [ended, { status: 400, body: { detail: "Request is still in progress" } }],
      means: { status: "pending", isRunning: true },
    },
  ],
  unknownStatus: { answers: [ok({ status: "WARMING" })], status: "WARMING" },
  emptySuccesses: [[ended, ok({})], [ended, ok({ video: null })], [ended, ok({ video: { url: "" } })]],
  contentRefusals: [{ status: 422, body: detail("content_policy_violation", "Flagged") }],
  refusal: (message) => detail("value_error", message),
  resentStatuses: [502, 503, 504],
  cancels: [
    { answers: [{ status: 202, body: { status: "CANCELLATION_REQUESTED" } }], outcome: "requested" },
    { answers: [{ status: 400, body: { status: "ALREADY_COMPLETED" } }], outcome: "gone" },
    { answers: [{ status: 404, body: { status: "NOT_FOUND" } }], outcome: "gone" },
  ],
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([ok({ request_id: "r-1" })], async ({ outbound, vendor }) => {
    const { place } = await falVideos(outbound).create(videoOrder(order));
    const { path, body } = itemAt(vendor.seen, 0);
    return { path, place, body: JSON.parse(body) };
  });
}

Deno.test("fal videos: the mode decides the path suffix of a known model, and the model its input fields", async () => {
  const frames = {
    mode: "img2video_end" as const,
    firstFrame: mediaAt("image", "https://example.invalid/a"),
    lastFrame: mediaAt("image", "https://example.invalid/b"),
  };
  const fieldsOf = async (model: string, order: Partial<VideoOrder>) => {
    const { path, body } = await sent({ model, ...order });
    return [path, ...Object.keys(body).filter((field) => /url|frame/.test(field)), body.duration, body.resolution];
  };
  assertEquals(await fieldsOf(MODEL, {}), ["/fal-ai/veo3.1", "5s", "720p"]);
  assertEquals(await fieldsOf(MODEL, frames), [
    "/fal-ai/veo3.1/first-last-frame-to-video",
    "first_frame_url",
    "last_frame_url",
    "5s",
    "720p",
  ]);
  assertEquals(await fieldsOf(MODEL, { mode: "img2video", firstFrame: mediaAt("image") }), [
    "/fal-ai/veo3.1/image-to-video",
    "image_url",
    "5s",
    "720p",
  ]);
  assertEquals(await fieldsOf("fal-ai/kling-video/v3/pro", frames), [
    "/fal-ai/kling-video/v3/pro/image-to-video",
    "start_image_url",
    "end_image_url",
    "5",
    undefined,
  ]);
  assertEquals(await fieldsOf("fal-ai/minimax/hailuo-02/standard", frames), [
    "/fal-ai/minimax/hailuo-02/standard/image-to-video",
    "image_url",
    "end_image_url",
    "5",
    "768P",
  ]);
  const references = [mediaAt("image"), mediaAt("video"), mediaAt("audio")];
  assertEquals(await fieldsOf("bytedance/seedance-2.0/fast", { mode: "mixref2video", references }), [
    "/bytedance/seedance-2.0/fast/reference-to-video",
    "image_urls",
    "video_urls",
    "audio_urls",
    "5",
    "720p",
  ]);
});

Deno.test("fal videos: a model of the client's table receives its own inputs, and the rest is named as dropped", async () => {
  const frames = {
    mode: "img2video_end" as const,
    firstFrame: mediaAt("image", "https://example.invalid/a"),
    lastFrame: mediaAt("image", "https://example.invalid/b"),
    aspectRatio: "16:9",
    seed: 7,
    generateAudio: true,
  };
  const { path, body } = await sent({ model: "fal-ai/kling-video/v2.5-turbo/pro", ...frames });
  assertEquals([path, Object.keys(body).sort()], [
    "/fal-ai/kling-video/v2.5-turbo/pro/image-to-video",
    ["duration", "image_url", "prompt", "tail_image_url"],
  ]);
  const dropped = await withAnswers([], ({ outbound }) => {
    const { droppedFields: dropped } = falVideos(outbound);
    return Promise.resolve(dropped!(videoOrder({ model: "fal-ai/kling-video/v2.5-turbo/pro", ...frames })));
  });
  assertEquals(dropped, ["resolution", "generate_audio", "seed"]);
});

Deno.test("fal videos: an unknown model, or one with a path suffix, is used as the path", async () => {
  const image = { mode: "img2video" as const, firstFrame: mediaAt("image") };
  assertEquals((await sent({ model: "someone/new-model", ...image })).path, "/someone/new-model");
  const whole = await sent({ model: "fal-ai/kling-video/v2.6/pro/image-to-video", ...image });
  assertEquals([whole.path, Object.keys(whole.body).includes("start_image_url")], [
    "/fal-ai/kling-video/v2.6/pro/image-to-video",
    true,
  ]);
});

Deno.test("fal videos: a mode that a model does not support is rejected before a request is sent", async () => {
  const order = videoOrder({
    model: "fal-ai/kling-video/v3/pro",
    mode: "mixref2video",
    references: [mediaAt("video")],
  });
  const failure = await withAnswers(
    [],
    ({ outbound }) => assertRejects(() => falVideos(outbound).create(order), UpstreamFailure),
  );
  assertEquals([failure.kind, failure.facts.accepted], ["invalid", "no"]);
});

Deno.test("fal videos: audio, seed, ratio and options are sent in the model's fields", async () => {
  const order = { seed: 3, generateAudio: true, aspectRatio: "9:16", options: { negative_prompt: "rain", seed: 9 } };
  const { body } = await sent({ model: "fal-ai/pixverse/v6", ...order });
  assertEquals(body, {
    negative_prompt: "rain",
    seed: 3,
    prompt: "a lighthouse",
    duration: 5,
    resolution: "720p",
    aspect_ratio: "9:16",
    generate_audio_switch: true,
  });
});

Deno.test("fal videos: a job URL from the vendor is used only if it is on the vendor's host and names that job", async () => {
  const place = (named: (port: number) => string) => {
    const answers: { status: number; body: unknown }[] = [];
    return withAnswers(answers, async ({ outbound, vendor }) => {
      answers.push(ok({ request_id: "r-1", response_url: named(vendor.port) }));
      return (await falVideos(outbound).create(videoOrder({ model: "someone/app/sub/path" }))).place;
    });
  };
  assertEquals(
    await place((port) => `http://127.0.0.1:${port}/someone/other/requests/r-1`),
    "/someone/other/requests/r-1",
  );
  const ownWay = "/someone/app/requests/r-1";
  assertEquals(await place(() => "http://169.254.169.254/someone/app/requests/r-1"), ownWay);
  assertEquals(await place((port) => `http://localhost:${port}/a/b/requests/r-1`), ownWay);
  assertEquals(await place((port) => `http://x@127.0.0.1:${port + 1}/a/b/requests/r-1`), ownWay);
  assertEquals(await place((port) => `http://127.0.0.1:${port}/a/b/requests/r-2`), ownWay);
  assertEquals(await place(() => "nonsense"), ownWay);
});

Deno.test("fal videos: a length that the vendor decides has its own value", async () => {
  const { body } = await sent({ model: "bytedance/seedance-2.0", durationSeconds: -1 });
  assertEquals(body.duration, "auto");
});

Deno.test("fal videos: status, result and cancel are below the job's path", async () => {
  await withAnswers([ended, ok({ video: { url: URL } }), { status: 202, body: {} }], async ({ outbound, vendor }) => {
    const videos = falVideos(outbound);
    await videos.poll(JOB);
    await videos.cancel!(JOB);
    assertEquals(vendor.seen.map(({ method, path }) => `${method} ${path}`), [
      `GET ${PLACE}/status`,
      `GET ${PLACE}`,
      `PUT ${PLACE}/cancel`,
    ]);
  });
});

Deno.test("fal videos: a failed request for the result does not end the job", async () => {
  for (const status of [401, 404, 429, 502, 503]) {
    await withAnswers(
      [ended, { status, body: "" }],
      ({ outbound }) => assertRejects(() => falVideos(outbound).poll(JOB), UpstreamFailure),
    );
  }
});

Deno.test("fal videos: an error with a type is not classified by its text", async () => {
  const body = { detail: "The upstream call is still in progress", error_type: "bad_request" };
  const progress = await withAnswers([ended, { status: 400, body }], ({ outbound }) => falVideos(outbound).poll(JOB));
  assertEquals(progress.status, "failed");
});

Deno.test("fal videos: an exhausted balance is not the caller's error", async () => {
  const body = { detail: "User is locked. Reason: Exhausted balance." };
  const { kind } = await withAnswers(
    [{ status: 403, body }],
    ({ outbound }) => assertRejects(() => falVideos(outbound).create(videoOrder({ model: MODEL })), UpstreamFailure),
  );
  assertEquals(kind, "unavailable");
});

Deno.test({
  name: "fal videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const answers = ["shape-queue-status-completed", "shape-queue-result-content-policy"].map((name) =>
      recordedAnswer(`fal/${name}`)!
    );
    const progress = await withAnswers(answers, ({ outbound }) => falVideos(outbound).poll(JOB));
    assertEquals(progress.status === "failed" && progress.code, "content_policy_violation");
    const creating = (name: string) =>
      withAnswers(
        [recordedAnswer(`fal/${name}`)!],
        ({ outbound }) =>
          assertRejects(() => falVideos(outbound).create(videoOrder({ model: MODEL })), UpstreamFailure),
      );
    assertEquals((await creating("queue-submit-empty-object")).facts.accepted, "unknown");
    const refused = await creating("queue-submit-400-error-object");
    assertEquals([refused.kind, refused.message], ["invalid", "Invalid prompt"]);
    const wrongApp = await creating("post-wrong-app-404-plain-text");
    assertEquals([wrongApp.kind, wrongApp.facts.accepted], ["invalid", "no"]);
  },
});

Deno.test("fal videos: the vendor sends callbacks to the gateway's URL for the task", async () => {
  const { path } = await sent({ model: "fal-ai/pixverse/v6", callbackUrl: "https://gate.example/x?token=1&a" });
  assertEquals(path.split("?")[1], "fal_webhook=https%3A%2F%2Fgate.example%2Fx%3Ftoken%3D1%26a");
});
