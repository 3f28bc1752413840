import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { minimaxVideos } from "../../../src/vendors/upstreams/minimax/videos.ts";
import type {
  VideoJobHandle,
  VideoOrder,
  VideoProgress,
} from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const JOB: VideoJobHandle = { id: "task-1", place: null };
const URL = "https://example.invalid/out.mp4";

const task = (status: string, more: object = {}) => ok({ task: { id: "task-1", status, ...more } });
const error = (type: string, message: string) => ({ type: "error", error: { type, message, http_code: "400" } });
const completed = (seconds: number | null): VideoProgress => ({
  status: "completed",
  results: [{ url: URL, needsCredential: false }],
  consumption: { seconds, costUsd: null },
});

videoUpstreamContract("MiniMax H3", {
  open: minimaxVideos,
  basePath: "",
  order: videoOrder({ model: "MiniMax-H3" }),
  created: { answer: ok({ task_id: "task-1" }), handle: JOB },
  longId: { answer: ok('{"task_id":106916112212032001}'), id: "106916112212032001" },
  job: JOB,
  progress: [
    { answers: [task("queued")], means: { status: "pending", isRunning: false } },
    { answers: [task("running")], means: { status: "pending", isRunning: true } },
    {
      answers: [
        task("succeeded", { content: { url: URL }, duration: 6, usage: { output_seconds: 5, total_seconds: 9 } }),
      ],
      means: completed(5),
    },
    { answers: [task("succeeded", { content: { url: URL }, duration: 6, usage: null })], means: completed(6) },
    { answers: [task("succeeded", { content: { url: URL }, duration: "6" })], means: completed(null) },
    {
      answers: [task("failed", { error: { code: 1027, message: "Refused" } })],
      means: { status: "failed", code: "content_policy_violation", message: "Refused" },
    },
    {
      answers: [task("failed", { error: { code: "1033", message: "Down" } })],
      means: { status: "failed", code: "upstream_error", message: "Down" },
    },
    {
      answers: [task("failed")],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
    { answers: [task("cancelled")], means: { status: "cancelled" } },
    { answers: [task("canceled")], means: { status: "cancelled" } },
    { answers: [task("expired")], means: { status: "expired" } },
  ],
  unknownStatus: { answers: [task("something-new")], status: "something-new" },
  emptySuccesses: [[task("succeeded")], [task("succeeded", { content: {} })], [
    task("succeeded", { content: { url: "" } }),
  ]],
  contentRefusals: [
    { status: 422, body: error("invalid_request_error", "input new_sensitive") },
    { status: 400, body: { error: { code: 1026, message: "The prompt was refused" } } },
    { status: 400, body: { base_resp: { status_code: 1026, status_msg: "The prompt was refused" } } },
  ],
  refusal: (message) => error("invalid_request_error", message),
  cancels: [
    { answers: [task("queued"), ok({ task_id: "task-1", action: "cancelled" })], outcome: "cancelled" },
    {
      answers: [task("queued"), { status: 400, body: error("invalid_request_error", "no") }, task("running")],
      outcome: "too_late",
    },
    { answers: [task("running")], outcome: "too_late" },
    { answers: [task("succeeded", { content: { url: URL } })], outcome: "gone" },
    { answers: [task("cancelled")], outcome: "cancelled" },
  ],
});

const HAILUO_JOB = { id: "1069", place: "v1" };
const base = (status_code: number, status_msg = "success") => ({ base_resp: { status_code, status_msg } });
const query = (status: string, more: object = {}) => ok({ task_id: "1069", status, file_id: "", ...base(0), ...more });
const file = (download_url: string | null) => ok({ file: { file_id: 205258526306433, download_url }, ...base(0) });
const REFUSED = { status: "failed", code: "content_policy_violation", message: "output new_sensitive" } as const;

videoUpstreamContract("MiniMax Hailuo", {
  open: minimaxVideos,
  basePath: "",
  order: videoOrder({ model: "MiniMax-Hailuo-2.3", durationSeconds: 6 }),
  created: { answer: ok({ task_id: "1069", ...base(0) }), handle: HAILUO_JOB },
  longId: { answer: ok('{"task_id":401047179385389059,"base_resp":{"status_code":0}}'), id: "401047179385389059" },
  job: HAILUO_JOB,
  progress: [
    { answers: [query("Preparing")], means: { status: "pending", isRunning: false } },
    { answers: [query("Queueing")], means: { status: "pending", isRunning: false } },
    { answers: [query("Processing")], means: { status: "pending", isRunning: true } },
    { answers: [query("Success", { file_id: "205258526306433" }), file(URL)], means: completed(null) },
    { answers: [query("Fail", base(1027, "output new_sensitive"))], means: REFUSED },
    {
      answers: [query("Fail", base(1033, "system error"))],
      means: { status: "failed", code: "upstream_error", message: "system error" },
    },
  ],
  unknownStatus: { answers: [query("Polishing")], status: "Polishing" },
  emptySuccesses: [[query("Success")], [query("Success", { file_id: "2" }), file("")], [
    query("Success", { file_id: "2" }),
    ok({ ...base(0) }),
  ]],
  contentRefusals: [
    ok(base(1026, "input new_sensitive")),
    ok(base(1027, "output new_sensitive")),
    { status: 422, body: error("invalid_request_error", "input new_sensitive") },
  ],
  refusal: (message) => error("invalid_request_error", message),
  cancels: [{ answers: [], outcome: "too_late" }],
});

async function sent(order: Partial<VideoOrder>, answered: object = { task_id: "1", ...base(0) }) {
  return await withAnswers([ok(answered)], async ({ outbound, vendor }) => {
    await minimaxVideos(outbound).create(videoOrder({ model: "MiniMax-H3", ...order }));
    const { path, body } = itemAt(vendor.seen, 0);
    return { path, body: JSON.parse(body) };
  });
}

Deno.test("MiniMax H3 videos: a text prompt is sent with a ratio, because the vendor has no default", async () => {
  assertEquals(await sent({ seed: 7, generateAudio: false }), {
    path: "/v2/video_generation",
    body: {
      model: "MiniMax-H3",
      content: [{ type: "text", text: "a lighthouse" }],
      duration: 5,
      resolution: "768P",
      ratio: "16:9",
    },
  });
  assertEquals((await sent({ aspectRatio: "9:16" })).body.ratio, "9:16");
});

Deno.test("MiniMax videos: a seed and unsupported audio settings are named as dropped", async () => {
  await withAnswers([], ({ outbound }) => {
    const { droppedFields: dropped } = minimaxVideos(outbound);
    const named = (model: string, generateAudio: boolean | null, seed: number | null = null) =>
      dropped!(videoOrder({ model, generateAudio, seed }));
    assertEquals(named("MiniMax-H3", false, 7), ["seed", "generate_audio"]);
    assertEquals([named("MiniMax-H3", true), named("MiniMax-H3", null)], [[], []]);
    assertEquals(named("MiniMax-Hailuo-2.3", true), ["generate_audio"]);
    assertEquals(named("MiniMax-Hailuo-2.3", false), []);
    return Promise.resolve();
  });
});

Deno.test("MiniMax H3 videos: frames keep their own ratio, references use the caller's", async () => {
  const frame = await sent({ mode: "img2video", aspectRatio: "1:1", firstFrame: mediaAt("image") });
  assertEquals(["ratio" in frame.body, frame.body.content[1].role], [false, "first_frame"]);
  const references = [mediaAt("image"), mediaAt("audio")];
  const { body } = await sent({ mode: "mixref2video", aspectRatio: "1:1", references });
  assertEquals([body.ratio, body.content[2].type, body.content[2].role], ["1:1", "audio_url", "reference_audio"]);
  assertEquals("ratio" in (await sent({ mode: "imgref2video", references })).body, false);
});

Deno.test("MiniMax H3 videos: resolutions are sent in the vendor's values", async () => {
  const resolutionFor = async (resolution: string) => (await sent({ resolution })).body.resolution;
  assertEquals(await Promise.all(["480p", "720p", "2K"].map(resolutionFor)), ["480P", "768P", "2K"]);
  const { body } = await sent({ resolution: null, size: { width: 2560, height: 1440 } });
  assertEquals([body.resolution, body.ratio], ["2K", "16:9"]);
});

Deno.test("MiniMax Hailuo videos: frames and a subject have their own fields", async () => {
  const model = "MiniMax-Hailuo-02";
  assertEquals(
    await sent({
      model,
      mode: "img2video_end",
      durationSeconds: 6,
      resolution: "1080p",
      firstFrame: mediaAt("image", "https://example.invalid/a"),
      lastFrame: mediaAt("image", "https://example.invalid/b"),
      options: { prompt_optimizer: false },
    }),
    {
      path: "/v1/video_generation",
      body: {
        prompt_optimizer: false,
        model,
        prompt: "a lighthouse",
        duration: 6,
        resolution: "1080P",
        first_frame_image: "https://example.invalid/a",
        last_frame_image: "https://example.invalid/b",
      },
    },
  );
  const { body } = await sent({ model: "S2V-01", mode: "imgref2video", references: [mediaAt("image")] });
  assertEquals(body.subject_reference, [{ type: "character", image: ["https://example.invalid/image"] }]);
});

Deno.test("MiniMax Hailuo videos: an unsupported ratio is rejected before a request is sent", async () => {
  const order = videoOrder({ model: "MiniMax-Hailuo-2.3", aspectRatio: "9:16" });
  const failure = await withAnswers(
    [],
    ({ outbound }) => assertRejects(() => minimaxVideos(outbound).create(order), UpstreamFailure),
  );
  assertEquals([failure.kind, failure.facts.accepted, failure.facts.field], ["invalid", "no", "aspect_ratio"]);
});

for (const model of ["MiniMax-Hailuo-2.3", "MiniMax-H3"]) {
  Deno.test(`MiniMax videos: the code in a status 200 response decides, ${model}`, () => testNumbers(model));
}

async function testNumbers(model: string): Promise<void> {
  const failing = (code: number) =>
    withAnswers([ok({ task_id: "", ...base(code, "no") })], async ({ outbound }) => {
      const { kind, facts } = await assertRejects(
        () => minimaxVideos(outbound).create(videoOrder({ model })),
        UpstreamFailure,
      );
      return [kind, facts.accepted, facts.vendorCode];
    });
  assertEquals(await failing(0), ["broken", "unknown", undefined]);
  assertEquals(await failing(1002), ["rate_limited", "no", "1002"]);
  assertEquals(await failing(1004), ["auth", "no", "1004"]);
  assertEquals(await failing(1008), ["unavailable", "no", "1008"]);
  assertEquals(await failing(2013), ["invalid", "no", "2013"]);
  assertEquals(await failing(1000), ["unavailable", "unknown", "1000"]);
  assertEquals(await failing(1001), ["timeout", "unknown", "1001"]);
  assertEquals(await failing(9999), ["unavailable", "unknown", "9999"]);
}

Deno.test("MiniMax Hailuo videos: an error code in a poll does not end the job", async () => {
  const failure = await withAnswers(
    [query("", base(1002, "too fast"))],
    ({ outbound }) => assertRejects(() => minimaxVideos(outbound).poll(HAILUO_JOB), UpstreamFailure),
  );
  assertEquals(failure.kind, "rate_limited");
});

Deno.test("MiniMax Hailuo videos: job and file are requested by their ids", async () => {
  await withAnswers([query("Success", { file_id: "205/1" }), file(URL)], async ({ outbound, vendor }) => {
    await minimaxVideos(outbound).poll(HAILUO_JOB);
    assertEquals(vendor.seen.map(({ path }) => path), [
      "/v1/query/video_generation?task_id=1069",
      "/v1/files/retrieve?file_id=205%2F1",
    ]);
  });
});

Deno.test({
  name: "MiniMax videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const progress = (name: string, job = JOB) =>
      withAnswers([recordedAnswer(`minimax/${name}`)!], ({ outbound }) => minimaxVideos(outbound).poll(job));
    assertEquals(await progress("shape-v2-queued"), { status: "pending", isRunning: false });
    assertEquals(await progress("v2-expired"), { status: "expired" });
    assertEquals((await progress("v2-failed-1027") as { code: string }).code, "content_policy_violation");
    assertEquals((await progress("v2-succeeded-empty-content") as { code: string }).code, "upstream_error");
    assertEquals((await progress("v2-unknown-status") as { unknownStatus: string }).unknownStatus, "something-new");
    assertEquals(await progress("v2-succeeded"), {
      status: "completed",
      results: [{ url: "https://cdn.minimax.io/output/video-001.mp4", needsCredential: false }],
      consumption: { seconds: 5, costUsd: null },
    });
    assertEquals(await progress("shape-v1-poll-fail", HAILUO_JOB), REFUSED);
    const creating = (name: string) =>
      withAnswers(
        [recordedAnswer(`minimax/${name}`)!],
        ({ outbound }) =>
          assertRejects(() => minimaxVideos(outbound).create(videoOrder({ model: "MiniMax-H3" })), UpstreamFailure),
      );
    assertEquals((await creating("v2-create-empty-object")).facts.accepted, "unknown");
    assertEquals((await creating("shape-v2-create-error")).facts.isContentRefusal, true);
  },
});

Deno.test("MiniMax videos: one list request polls several H3 jobs, but no Hailuo jobs", async () => {
  const items = [{ id: "task-1", status: "running" }, { id: 2, status: "succeeded", content: { url: URL } }];
  await withAnswers([ok({ items, total: 2 })], async ({ outbound, vendor }) => {
    const { pollMany } = minimaxVideos(outbound);
    const hailuo = { id: "task-3", place: "v1" };
    const progressById = await pollMany!.poll([JOB, { id: "2", place: null }, hailuo]);
    assertEquals([...progressById].map(([id, { status }]) => `${id} ${status}`), ["task-1 pending", "2 completed"]);
    assertEquals((await pollMany!.poll([hailuo])).size, 0);
    assertEquals(vendor.seen.map(({ path }) => path), [
      "/v2/query/video_generation?page_num=1&page_size=2&filter.task_ids=task-1&filter.task_ids=2",
    ]);
  });
});

Deno.test("MiniMax videos: the vendor sends callbacks to the gateway's URL for the task, in both versions", async () => {
  for (const model of ["MiniMax-H3", "MiniMax-Hailuo-2.3"]) {
    await withAnswers([ok({ task_id: "task-1" })], async ({ outbound, vendor }) => {
      await minimaxVideos(outbound).create(videoOrder({ model, callbackUrl: "https://gate.example/x?token=1" }));
      assertEquals(JSON.parse(itemAt(vendor.seen, 0).body).callback_url, "https://gate.example/x?token=1");
    });
  }
});
