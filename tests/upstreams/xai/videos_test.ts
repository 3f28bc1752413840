import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type {
  VideoConsumption,
  VideoOrder,
  VideoProgress,
} from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { xaiVideos } from "../../../src/vendors/upstreams/xai/videos.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const BASE = "/v1";
const JOB = { id: "r-1", place: null };
const URL = "https://example.invalid/out.mp4";
const MODERATED = "Generated video rejected by content moderation.";

const completed = (consumption: VideoConsumption): VideoProgress => ({
  status: "completed",
  results: [{ url: URL, needsCredential: false }],
  consumption,
});
const done = (video: unknown, more: object = {}) => ok({ status: "done", video, ...more });
const refused = (message: string): VideoProgress => ({ status: "failed", code: "content_policy_violation", message });
const BY_MARK = refused("The video was rejected by the vendor's content moderation");

videoUpstreamContract("xAI", {
  open: xaiVideos,
  basePath: BASE,
  order: videoOrder(),
  created: { answer: ok({ request_id: "r-1" }), handle: JOB },
  longId: { answer: ok('{"request_id":9007199254740993}'), id: "9007199254740993" },
  job: JOB,
  progress: [
    { answers: [{ status: 202, body: "" }], means: { status: "pending", isRunning: null } },
    {
      answers: [{ status: 202, body: { status: "pending", progress: 40 } }],
      means: { status: "pending", isRunning: null, progressPercent: 40 },
    },
    { answers: [ok({ status: "pending" })], means: { status: "pending", isRunning: null } },
    { answers: [done({ url: URL, duration: 5 })], means: completed({ seconds: 5, costUsd: null }) },
    { answers: [ok({ video: { url: URL } })], means: completed({ seconds: null, costUsd: null }) },
    {
      answers: [
        done({ url: URL, duration: 5.056, respect_moderation: true }, { usage: { cost_in_usd_ticks: 4_000_000_001 } }),
      ],
      means: completed({ seconds: 5.056, costUsd: "0.4000000001" }),
    },
    {
      answers: [done({ url: URL, duration: -1 }, { usage: { cost_in_usd_ticks: -5 } })],
      means: completed({ seconds: null, costUsd: null }),
    },
    {
      answers: [done({ url: URL }, { usage: { cost_in_usd_ticks: 10 ** 18 } })],
      means: completed({ seconds: null, costUsd: null }),
    },
    { answers: [done({ url: "", respect_moderation: false })], means: BY_MARK },
    { answers: [done({ url: URL, respect_moderation: false })], means: BY_MARK },
    { answers: [{ status: 400, body: { code: "invalid-argument", error: MODERATED } }], means: refused(MODERATED) },
    {
      answers: [ok({ status: "failed", error: { code: "moderated", message: MODERATED } })],
      means: refused(MODERATED),
    },
    {
      answers: [ok({ status: "failed", error: { code: "internal_error" } })],
      means: { status: "failed", code: "upstream_error", message: "internal_error" },
    },
    {
      answers: [ok({ status: "failed", error: null })],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
    { answers: [ok({ status: "expired" })], means: { status: "expired" } },
  ],
  unknownStatus: { answers: [ok({ status: "dreaming" })], status: "dreaming" },
  emptySuccesses: [[done(null)], [done({ url: "" })], [done({})]],
  contentRefusals: [
    { status: 400, body: { code: "Client specified an invalid argument", error: MODERATED } },
    { status: 403, body: { error: "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO" } },
    { status: 400, body: { error: { message: MODERATED } } },
  ],
  refusal: (message) => ({ code: "Client specified an invalid argument", error: message }),
  cancels: null,
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([ok({ request_id: "r-1" })], async ({ outbound, vendor }) => {
    await xaiVideos(outbound).create(videoOrder(order));
    const { path, body } = itemAt(vendor.seen, 0);
    assertEquals(path, "/v1/videos/generations");
    return JSON.parse(body);
  }, BASE);
}

Deno.test("xAI videos: a text prompt is sent with its shape, and without the seed", async () => {
  assertEquals(await sent({ aspectRatio: "3:2", seed: 7 }), {
    model: "a-model",
    prompt: "a lighthouse",
    duration: 5,
    resolution: "720p",
    aspect_ratio: "3:2",
  });
});

Deno.test("xAI videos: the audio field is sent only to turn audio off", async () => {
  assertEquals((await sent({ generateAudio: false })).generate_audio, false);
  assertEquals("generate_audio" in await sent({ generateAudio: true }), false);
});

Deno.test("xAI videos: frames and references are objects with a URL", async () => {
  const frames = await sent({
    mode: "img2video_end",
    firstFrame: mediaAt("image", "https://example.invalid/a"),
    lastFrame: mediaAt("image", "data:image/png;base64,AAAA"),
  });
  assertEquals([frames.image, frames.last_frame], [
    { url: "https://example.invalid/a" },
    { url: "data:image/png;base64,AAAA" },
  ]);
  const references = await sent({ mode: "mixref2video", references: [mediaAt("audio"), mediaAt("image")] });
  assertEquals([references.reference_images, references.reference_audios], [
    [{ url: "https://example.invalid/image" }],
    [{ url: "https://example.invalid/audio" }],
  ]);
});

Deno.test("xAI videos: the vendor's voices are sent in the same list as audio clips", async () => {
  const options = { reference_voice_ids: ["ara"] };
  const both = await sent({ mode: "mixref2video", references: [mediaAt("image"), mediaAt("audio")], options });
  assertEquals([both.reference_audios, "reference_voice_ids" in both], [
    [{ url: "https://example.invalid/audio" }, { voice_id: "ara" }],
    false,
  ]);
  const { reference_audios } = await sent({ mode: "imgref2video", references: [mediaAt("image")], options });
  assertEquals(reference_audios, [{ voice_id: "ara" }]);
  for (const custom of [["voice-of-the-operator"], "ara", [7]]) {
    const order = videoOrder({ options: { reference_voice_ids: custom } });
    await withAnswers(
      [],
      ({ outbound }) =>
        assertRejects(() => xaiVideos(outbound).create(order), UpstreamFailure, "expected a list of ara"),
    );
  }
});

Deno.test("xAI videos: a seed is named as dropped", async () => {
  await withAnswers([], ({ outbound }) => {
    const { droppedFields: dropped } = xaiVideos(outbound);
    assertEquals([dropped!(videoOrder({ seed: 7 })), dropped!(videoOrder())], [["seed"], []]);
    return Promise.resolve();
  });
});

Deno.test("xAI videos: a size becomes resolution and ratio", async () => {
  const { resolution, aspect_ratio } = await sent({ resolution: null, size: { width: 720, height: 1080 } });
  assertEquals([resolution, aspect_ratio], ["720p", "2:3"]);
});

Deno.test({
  name: "xAI videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const progress = (name: string) =>
      withAnswers([recordedAnswer(`xai/${name}`)!], ({ outbound }) => xaiVideos(outbound).poll(JOB), BASE);
    assertEquals(await progress("video-done-with-cost"), {
      status: "completed",
      results: [{ url: "https://vidgen.x.ai/output/video-001.mp4", needsCredential: false }],
      consumption: { seconds: 5, costUsd: "0.4000000000" },
    });
    assertEquals((await progress("video-done")).status, "completed");
    assertEquals((await progress("video-done-null-video") as { code: string }).code, "upstream_error");
    assertEquals((await progress("video-expired")).status, "expired");
    assertEquals(await progress("video-pending"), { status: "pending", isRunning: null });
  },
});
