import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { replicateVideos } from "../../../src/vendors/upstreams/replicate/videos.ts";
import type { VideoMedia, VideoOrder, VideoProgress } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";
import { dataUriOf } from "../../../src/vendors/upstreams/contract/inline_file.ts";

const MODEL = "kwaivgi/kling-v2.6";
const URL = "https://replicate.example/out.mp4";
const JOB = { id: "p-1", place: null };
const prediction = (status: string, fields: Record<string, unknown> = {}) =>
  ok({ id: "p-1", status, output: null, error: null, ...fields });
const completed: VideoProgress = {
  status: "completed",
  results: [{ url: URL, needsCredential: false }],
  consumption: { seconds: null, costUsd: null },
};
const failedAs = (code: "content_policy_violation" | "upstream_error", message: string): VideoProgress => ({
  status: "failed",
  code,
  message,
});
const SENSITIVE = "The input or output was flagged as sensitive. Please try again with different inputs. (E005)";

videoUpstreamContract("replicate", {
  open: replicateVideos,
  basePath: "/v1",
  order: videoOrder({ model: MODEL }),
  created: { answer: { ...prediction("starting"), status: 201 }, handle: JOB },
  longId: {
    answer: { status: 201, body: '{"id":9007199254740993,"status":"starting"}' },
    id: "9007199254740993",
  },
  job: JOB,
  progress: [
    { answers: [prediction("starting")], means: { status: "pending", isRunning: false } },
    {
      answers: [prediction("processing", { started_at: "2026-11-22T09:00:00.5Z" })],
      means: { status: "pending", isRunning: true, startedAt: Date.UTC(2026, 10, 22, 9, 0, 0, 500) },
    },
    { answers: [prediction("processing")], means: { status: "pending", isRunning: true } },
    { answers: [prediction("succeeded", { output: URL })], means: completed },
    { answers: [prediction("succeeded", { output: [URL] })], means: completed },
    { answers: [prediction("failed", { error: "Boom" })], means: failedAs("upstream_error", "Boom") },
    { answers: [prediction("failed", { error: SENSITIVE })], means: failedAs("content_policy_violation", SENSITIVE) },
    {
      answers: [prediction("failed", { error: { code: 7 } })],
      means: failedAs("upstream_error", 'Provider "acme" failed to process the request'),
    },
    { answers: [prediction("canceled")], means: { status: "cancelled" } },
    { answers: [prediction("aborted")], means: { status: "expired" } },
    {
      answers: [prediction("succeeded", { data_removed: true })],
      means: failedAs("upstream_error", "The vendor deleted the result before it was downloaded"),
    },
  ],
  unknownStatus: { answers: [prediction("booting")], status: "booting" },
  emptySuccesses: [
    [prediction("succeeded")],
    [prediction("succeeded", { output: [] })],
    [prediction("succeeded", { output: { video: null } })],
  ],
  contentRefusals: [{ status: 422, body: { detail: "The prompt violates our content policy" } }],
  refusal: (detail) => ({ title: "Failed", detail }),
  cancels: [
    { answers: [prediction("processing"), prediction("processing")], outcome: "requested" },
    { answers: [prediction("canceled"), prediction("canceled")], outcome: "cancelled" },
    { answers: [prediction("starting"), prediction("aborted")], outcome: "cancelled" },
    { answers: [prediction("succeeded"), prediction("succeeded", { output: URL })], outcome: "gone" },
    { answers: [{ status: 404, body: { detail: "Not found" } }], outcome: "gone" },
  ],
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([prediction("starting")], async ({ outbound, vendor }) => {
    await replicateVideos(outbound).create(videoOrder(order));
    const { path, body } = itemAt(vendor.seen, 0);
    return { path, body: JSON.parse(body) };
  });
}

const FRAMES = {
  mode: "img2video_end" as const,
  firstFrame: mediaAt("image", "https://example.invalid/a"),
  lastFrame: mediaAt("image", "https://example.invalid/b"),
};
const A = "https://example.invalid/a";
const B = "https://example.invalid/b";

for (
  const [model, order, input] of [
    ["kwaivgi/kling-v3-video", { ...FRAMES, resolution: "1080p", generateAudio: true }, {
      duration: 5,
      mode: "pro",
      start_image: A,
      end_image: B,
      generate_audio: true,
    }],
    ["kwaivgi/kling-v2.5-turbo-pro", { aspectRatio: "9:16" }, { duration: 5, aspect_ratio: "9:16" }],
    ["google/veo-3.1", { ...FRAMES, seed: 7 }, { duration: 5, resolution: "720p", image: A, last_frame: B, seed: 7 }],
    ["minimax/hailuo-2.3", { mode: "img2video", firstFrame: FRAMES.firstFrame, durationSeconds: 6 }, {
      duration: 6,
      resolution: "768p",
      first_frame_image: A,
    }],
    ["bytedance/seedance-2.0", {
      mode: "mixref2video",
      references: [mediaAt("image", A), mediaAt("video", B), mediaAt("audio", "https://example.invalid/c")],
    }, {
      duration: 5,
      resolution: "720p",
      reference_images: [A],
      reference_videos: [B],
      reference_audios: ["https://example.invalid/c"],
    }],
    ["kwaivgi/kling-v3-omni-video", {
      mode: "mixref2video",
      references: [mediaAt("image", A), mediaAt("video", B)],
    }, { duration: 5, mode: "standard", reference_images: [A], reference_video: B }],
    ["someone/new-model", { ...FRAMES, options: { negative_prompt: "rain" } }, {
      negative_prompt: "rain",
      duration: 5,
      resolution: "720p",
      image: A,
      last_frame_image: B,
    }],
  ] as const
) {
  Deno.test(`Replicate videos: ${model} receives its own fields`, async () => {
    const { path, body } = await sent({ model, ...order } as Partial<VideoOrder>);
    assertEquals(path, `/models/${model}/predictions`);
    assertEquals(body, { input: { prompt: "a lighthouse", ...input } });
  });
}

Deno.test("Replicate videos: a version is sent in the body, with the input fields of its model", async () => {
  const { path, body } = await sent({ model: "minimax/hailuo-02:abc", resolution: "480p" });
  assertEquals(path, "/predictions");
  assertEquals(body, { version: "abc", input: { prompt: "a lighthouse", duration: 5, resolution: "512p" } });
});

Deno.test("Replicate videos: the vendor sends callbacks to the gateway's URL", async () => {
  const { body } = await sent({ model: MODEL, callbackUrl: "https://gateway.example/news/1" });
  assertEquals([body.webhook, body.webhook_events_filter], ["https://gateway.example/news/1", ["completed"]]);
});

Deno.test("Replicate videos: large inline media are uploaded first", async () => {
  const inline = (length: number): VideoMedia => {
    const open = () => ReadableStream.from([new Uint8Array(length)]);
    return {
      ...mediaAt("image"),
      form: "data_uri",
      value: dataUriOf({ mediaType: "image/jpeg", lengthBytes: length, open }),
    };
  };
  const address = "https://api.replicate.example/v1/files/f-1";
  const upload = { status: 201, body: { id: "f-1", urls: { get: address } } };
  await withAnswers([upload, prediction("starting")], async ({ outbound, vendor }) => {
    const order = { model: "google/veo-3.1", ...FRAMES, firstFrame: inline(65_537), lastFrame: inline(3) };
    await replicateVideos(outbound).create(videoOrder(order));
    assertEquals(vendor.seen.map(({ path }) => path), ["/files", "/models/google/veo-3.1/predictions"]);
    const { input } = JSON.parse(itemAt(vendor.seen, 1).body);
    assertEquals([input.image, input.last_frame], [address, "data:image/jpeg;base64,AAAA"]);
  });
  await withAnswers([{ status: 503, body: "" }], async ({ outbound }) => {
    const order = videoOrder({ mode: "img2video", firstFrame: inline(65_537) });
    const failure = await assertRejects(() => replicateVideos(outbound).create(order), UpstreamFailure);
    assertEquals(failure.facts.accepted, "no");
  });
});

Deno.test("Replicate videos: unsupported input is rejected before a request is sent, or named as dropped", async () => {
  const refused = (order: Partial<VideoOrder>) =>
    withAnswers([], async ({ outbound }) => {
      const creating = () => replicateVideos(outbound).create(videoOrder(order));
      const failure = await assertRejects(creating, UpstreamFailure);
      return [failure.kind, failure.facts.accepted, failure.message];
    });
  assertEquals(await refused({ model: MODEL, ...FRAMES }), [
    "invalid",
    "no",
    '"kwaivgi/kling-v2.6" does not support a last frame',
  ]);
  assertEquals(
    await refused({ model: "kwaivgi/kling-v3-omni-video", references: [mediaAt("video"), mediaAt("video")] }),
    [
      "invalid",
      "no",
      '"kwaivgi/kling-v3-omni-video" does not support video references',
    ],
  );
  await withAnswers([], ({ outbound }) => {
    const { droppedFields: dropped } = replicateVideos(outbound);
    const order = { seed: 1, generateAudio: true, durationSeconds: 5 };
    assertEquals(dropped!(videoOrder({ model: "minimax/hailuo-2.3", ...order })), ["generate_audio", "seed"]);
    assertEquals(dropped!(videoOrder({ model: "google/veo-3.1", ...order })), []);
    return Promise.resolve();
  });
});

Deno.test("Replicate videos: the retry delay is in the text of a 429, and an exhausted balance is not the caller's error", async () => {
  const creating = (status: number, detail: string) =>
    withAnswers(
      [{ status, body: { detail, status } }],
      ({ outbound }) => assertRejects(() => replicateVideos(outbound).create(videoOrder()), UpstreamFailure),
    );
  const throttled = await creating(429, "Request was throttled. Your rate limit resets in ~30s.");
  assertEquals([throttled.kind, throttled.facts.retryAfterSeconds], ["rate_limited", 30]);
  assertEquals((await creating(402, "You have insufficient credit")).kind, "unavailable");
});

Deno.test({
  name: "Replicate videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const progress = await withAnswers(
      [recordedAnswer("replicate/shape-failed-sensitive")!],
      ({ outbound }) => replicateVideos(outbound).poll(JOB),
    );
    assertEquals(progress.status === "failed" && progress.code, "content_policy_violation");
    const running = await withAnswers(
      [recordedAnswer("replicate/post-v1_predictions-201-2")!],
      ({ outbound }) => replicateVideos(outbound).poll(JOB),
    );
    assertEquals(running, { status: "pending", isRunning: true });
  },
});

Deno.test("Replicate videos: an unsupported resolution does not become one with a higher price", async () => {
  const { body } = await sent({ model: "minimax/hailuo-2.3", resolution: "480p" });
  assertEquals(body.input.resolution, "480p");
});
