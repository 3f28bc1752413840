import { assertEquals, assertRejects } from "@std/assert";
import { arkVideos } from "../../../src/vendors/upstreams/ark/videos.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type { VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const BASE = "/api/v3";
const TASKS = `${BASE}/contents/generations/tasks`;
const JOB = { id: "cgt-1", place: null };

const task = (status: string, more: object = {}) => ok({ id: "cgt-1", status, ...more });
const error = (code: string, message: string) => ({ error: { code, message, param: "", type: "BadRequest" } });
const running = { status: 409, body: error("InvalidAction.RunningTaskDeletion", "The task is running") };
const video = { content: { video_url: "https://example.invalid/out.mp4" } };

videoUpstreamContract("Ark", {
  open: arkVideos,
  basePath: BASE,
  order: videoOrder(),
  created: { answer: ok({ id: "cgt-1" }), handle: JOB },
  longId: { answer: ok('{"id":90071992547409931}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [task("queued")], means: { status: "pending", isRunning: false } },
    { answers: [task("running")], means: { status: "pending", isRunning: true } },
    {
      answers: [task("succeeded", { ...video, duration: 5 })],
      means: {
        status: "completed",
        results: [{ url: video.content.video_url, needsCredential: false }],
        consumption: { seconds: 5, costUsd: null },
      },
    },
    {
      answers: [task("succeeded", { ...video, frames: 121, framespersecond: 24.2, usage: null })],
      means: {
        status: "completed",
        results: [{ url: video.content.video_url, needsCredential: false }],
        consumption: { seconds: 5, costUsd: null },
      },
    },
    {
      answers: [task("failed", { error: { code: "OutputVideoSensitiveContentDetected", message: "Refused" } })],
      means: { status: "failed", code: "content_policy_violation", message: "Refused" },
    },
    {
      answers: [task("failed", { error: { code: "InternalServiceError" } })],
      means: { status: "failed", code: "upstream_error", message: "InternalServiceError" },
    },
    {
      answers: [task("failed")],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
    { answers: [task("cancelled")], means: { status: "cancelled" } },
    { answers: [task("canceled")], means: { status: "cancelled" } },
    { answers: [task("expired")], means: { status: "expired" } },
  ],
  unknownStatus: { answers: [task("resting")], status: "resting" },
  emptySuccesses: [
    [task("succeeded")],
    [task("succeeded", { content: null })],
    [task("succeeded", { content: {} })],
    [task("succeeded", { content: { video_url: "" } })],
  ],
  contentRefusals: [
    {
      status: 400,
      body: error("InputTextSensitiveContentDetected", "The input text may contain sensitive information"),
    },
    { status: 400, body: error("InputImageSensitiveContentDetected.PrivacyInformation", "A real person") },
  ],
  refusal: (message) => error("SomeNewWord", message),
  cancels: [
    { answers: [task("queued"), ok({})], outcome: "cancelled" },
    { answers: [task("queued"), running, task("running")], outcome: "too_late" },
    { answers: [task("running")], outcome: "too_late" },
    { answers: [task("resting")], outcome: "too_late" },
    { answers: [task("succeeded", video)], outcome: "gone" },
    { answers: [task("failed")], outcome: "gone" },
    { answers: [task("cancelled")], outcome: "cancelled" },
  ],
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([ok({ id: "cgt-1" })], async ({ outbound, vendor }) => {
    await arkVideos(outbound).create(videoOrder(order));
    const { path, body } = itemAt(vendor.seen, 0);
    assertEquals(path, TASKS);
    return JSON.parse(body);
  }, BASE);
}

Deno.test("Ark videos: a text prompt is sent with shape, seed, audio and the task's mark", async () => {
  const order = videoOrder({ aspectRatio: "16:9", resolution: "4K", seed: 7, generateAudio: false });
  assertEquals(await sent(order), {
    model: "a-model",
    content: [{ type: "text", text: "a lighthouse" }],
    duration: 5,
    resolution: "4k",
    ratio: "16:9",
    seed: 7,
    generate_audio: false,
    safety_identifier: order.taskId,
  });
});

Deno.test("Ark videos: fields that the caller did not set are not sent", async () => {
  assertEquals(Object.keys(await sent({ resolution: null })).sort(), [
    "content",
    "duration",
    "model",
    "safety_identifier",
  ]);
});

Deno.test("Ark videos: frames are sent with their roles and without a ratio", async () => {
  const body = await sent({
    mode: "img2video_end",
    aspectRatio: "16:9",
    firstFrame: mediaAt("image", "https://example.invalid/a.png"),
    lastFrame: mediaAt("image", "data:image/png;base64,AAAA"),
  });
  assertEquals(body.content.slice(1), [
    { type: "image_url", image_url: { url: "https://example.invalid/a.png" }, role: "first_frame" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" }, role: "last_frame" },
  ]);
  assertEquals("ratio" in body, false);
});

Deno.test("Ark videos: references keep the caller's order and have their type", async () => {
  const body = await sent({
    mode: "mixref2video",
    references: [mediaAt("image"), mediaAt("video"), mediaAt("audio")],
  });
  assertEquals(body.content.slice(1).map((part: { role: string }) => part.role), [
    "reference_image",
    "reference_video",
    "reference_audio",
  ]);
  assertEquals(body.content[2], {
    type: "video_url",
    video_url: { url: "https://example.invalid/video" },
    role: "reference_video",
  });
});

Deno.test("Ark videos: videos are accepted as URLs only", async () => {
  const forms = await withAnswers([], ({ outbound }) => Promise.resolve(arkVideos(outbound).mediaForms));
  assertEquals(forms.video, ["url"]);
  assertEquals(forms.image.includes("data_uri") && forms.audio.includes("data_uri"), true);
});

Deno.test("Ark videos: the caller's options are sent, and do not override priced fields", async () => {
  const body = await sent({ options: { watermark: false, duration: 30, model: "dear", service_tier: "flex" } });
  assertEquals([body.watermark, body.duration, body.model, body.service_tier], [false, 5, "a-model", "flex"]);
});

Deno.test("Ark videos: a size becomes the resolution that contains it and the nearest ratio", async () => {
  const shapeOf = async (width: number, height: number) => {
    const { resolution, ratio } = await sent({ resolution: null, size: { width, height } });
    return [resolution, ratio];
  };
  assertEquals(await shapeOf(1280, 720), ["720p", "16:9"]);
  assertEquals(await shapeOf(1366, 768), ["1080p", "16:9"]);
  assertEquals(await shapeOf(480, 640), ["480p", "3:4"]);
  assertEquals(await shapeOf(3840, 2160), ["4k", "16:9"]);
  const priced = await sent({ resolution: "1080p", size: { width: 600, height: 600 } });
  assertEquals([priced.resolution, priced.ratio], ["1080p", "1:1"]);
  const failure = await assertRejects(
    () =>
      withAnswers([], ({ outbound }) => arkVideos(outbound).create(videoOrder({ size: { width: 300, height: 200 } }))),
    UpstreamFailure,
  );
  assertEquals([failure.kind, failure.facts.accepted, failure.facts.field], ["invalid", "no", "size"]);
});

Deno.test("Ark videos: an account problem is not the caller's error", async () => {
  const kindOf = (status: number, code: string) =>
    withAnswers([{ status, body: error(code, "no") }], async ({ outbound }) => {
      return (await assertRejects(() => arkVideos(outbound).create(videoOrder()), UpstreamFailure)).kind;
    }, BASE);
  assertEquals(await kindOf(404, "ModelNotOpen"), "forbidden");
  assertEquals(await kindOf(404, "InvalidEndpoint.NotFound"), "forbidden");
  assertEquals(await kindOf(403, "AccountOverdueError"), "unavailable");
  assertEquals(await kindOf(429, "QuotaExceeded"), "rate_limited");
});

const NOW_MS = 1_800_000_000_000;
const listed = (id: string, at: number, mark: string | null) => ({
  id,
  status: "queued",
  created_at: at / 1_000,
  safety_identifier: mark,
});
const page = (first: number, count: number) =>
  Array.from({ length: count }, (_, nth) => listed(`other-${first + nth}`, NOW_MS - nth, null));

Deno.test("Ark videos: a job whose creation had no response is found by its mark, page by page", async () => {
  const order = videoOrder();
  const answers = [
    ok({ items: page(0, 100), total: 102 }),
    ok({ items: [...page(100, 1), listed("cgt-9", NOW_MS, order.taskId)] }),
  ];
  await withAnswers(answers, async ({ outbound, vendor }) => {
    assertEquals(await arkVideos(outbound).find!(order, NOW_MS - 60_000), { id: "cgt-9", place: null });
    assertEquals(vendor.seen.map(({ path }) => path), [
      `${TASKS}?page_num=1&page_size=100`,
      `${TASKS}?page_num=2&page_size=100`,
    ]);
  }, BASE);
});

Deno.test("Ark videos: a list with too many pages does not mean that the job is absent", async () => {
  const pages = Array.from({ length: 50 }, () => ok({ items: page(0, 100) }));
  await withAnswers(pages, async ({ outbound, vendor }) => {
    const find = () => arkVideos(outbound).find!(videoOrder(), NOW_MS - 3_600_000);
    assertEquals((await assertRejects(find, UpstreamFailure)).kind, "unavailable");
    assertEquals(vendor.seen.length, 50);
  }, BASE);
});

Deno.test("Ark videos: a similar job without the mark is ignored, and older jobs are not read", async () => {
  const find = (items: unknown[], order = videoOrder()) =>
    withAnswers([ok({ items })], ({ outbound }) => arkVideos(outbound).find!(order, NOW_MS), BASE);
  assertEquals(await find([listed("cgt-8", NOW_MS, "another task"), listed("cgt-7", NOW_MS, null)]), null);
  assertEquals(await find([]), null);
  assertEquals(await find([...page(0, 99), listed("old", NOW_MS - 9_000, null)]), null);
});

Deno.test("Ark videos: a caller's end user identifier precedes the mark, within the vendor's 64 characters", async () => {
  const order = videoOrder({ options: { safety_identifier: "u".repeat(60), service_tier: "flex" } });
  const mark = `${"u".repeat(27)}-${order.taskId}`;
  assertEquals((await sent(order)).safety_identifier, mark);
  await withAnswers([ok({ items: [listed("cgt-5", NOW_MS, mark)] })], async ({ outbound, vendor }) => {
    assertEquals((await arkVideos(outbound).find!(order, NOW_MS))?.id, "cgt-5");
    assertEquals(vendor.seen[0]?.path.endsWith("&filter.service_tier=flex"), true);
  }, BASE);
});

Deno.test({
  name: "Ark videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const progress = (name: string) =>
      withAnswers([recordedAnswer(`ark/${name}`)!], ({ outbound }) => arkVideos(outbound).poll(JOB), BASE);
    assertEquals(await progress("shape-video-succeeded-full"), {
      status: "completed",
      results: [{ url: "https://example.invalid/out.mp4?X-Tos-Expires=86400", needsCredential: false }],
      extras: [{ type: "last_frame", url: "https://example.invalid/last.png" }],
      consumption: { seconds: 5, costUsd: null },
    });
    assertEquals((await progress("video-cancelled")).status, "cancelled");
    assertEquals((await progress("video-canceled-one-l")).status, "cancelled");
    assertEquals(await progress("video-failed-code-only"), {
      status: "failed",
      code: "upstream_error",
      message: "InternalServiceError",
    });
    assertEquals(await progress("video-failed-sensitive"), {
      status: "failed",
      code: "content_policy_violation",
      message: "The prompt was rejected by the content filter.",
    });
    const late = await progress("shape-video-failed-task-type");
    assertEquals(late.status === "failed" && late.code, "upstream_error");
    await assertRejects(() => progress("video-poll-404"), UpstreamFailure, "Task not found");
  },
});

Deno.test("Ark videos: a length that the vendor decides is sent as -1, and an unset length is not sent", async () => {
  const references = [mediaAt("video")];
  assertEquals((await sent({ mode: "mixref2video", references, durationSeconds: -1 })).duration, -1);
  const body = await sent({ mode: "mixref2video", references, durationSeconds: null });
  assertEquals(["duration" in body, "ratio" in body], [false, false]);
});

Deno.test("Ark videos: one list request polls several jobs, and omits jobs that it does not contain", async () => {
  const items = [
    { id: "cgt-1", status: "running" },
    { id: "cgt-2", status: "succeeded", content: { video_url: "https://example.invalid/2.mp4" }, duration: 5 },
    { id: "cgt-3", status: "succeeded", content: {} },
    { id: "cgt-4", status: "failed", error: { code: "InternalServiceError", message: "no" } },
    { id: "cgt-5", status: 7 },
    { status: "running" },
    { id: "cgt-6", status: "cancelled" },
  ];
  await withAnswers([ok({ items, total: 7 })], async ({ outbound, vendor }) => {
    const jobs = ["cgt-1", "cgt-2", "cgt-3", "cgt-4", "cgt-5", "a&b", "cgt-6"].map((id) => ({ id, place: null }));
    const progressById = await arkVideos(outbound).pollMany!.poll(jobs);
    assertEquals([...progressById].map(([id, { status }]) => `${id} ${status}`), [
      "cgt-1 pending",
      "cgt-2 completed",
      "cgt-6 cancelled",
    ]);
    const query = new URLSearchParams(itemAt(vendor.seen, 0).path.split("?")[1]);
    assertEquals(query.getAll("filter.task_ids"), jobs.map(({ id }) => id));
    assertEquals([query.get("page_num"), query.get("page_size")], ["1", "7"]);
  }, BASE);
});

Deno.test("Ark videos: a response that is not a list is a failure of the list", async () => {
  await withAnswers([ok({ total: 0 })], async ({ outbound }) => {
    const failure = await assertRejects(() => arkVideos(outbound).pollMany!.poll([JOB]), UpstreamFailure);
    assertEquals(failure.kind, "broken");
  }, BASE);
});

Deno.test("Ark videos: the vendor sends callbacks to the gateway's URL for the task", async () => {
  assertEquals(
    (await sent({ callbackUrl: "https://gate.example/x?token=1" })).callback_url,
    "https://gate.example/x?token=1",
  );
});
