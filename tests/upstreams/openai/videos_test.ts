import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { openrouterVideos } from "../../../src/vendors/upstreams/openai/videos.ts";
import type { VideoOrder, VideoUpstream } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { bytesOf } from "../vendor.ts";
import { answer } from "../../support/scripted_upstream.ts";
import {
  mediaAt,
  ok,
  STAGE_KEY,
  type VendorStage,
  videoOrder,
  withAnswers,
  withVendor,
} from "../../support/vendor_stage.ts";

const BASE = "/api/v1";
const ID = "gen-vid-1793491200-abcdefghijklmnopqrst";
const JOB = { id: ID, place: null };
const URL_ELSEWHERE = "https://storage.example.invalid/out.mp4";

const job = (status: string, more: object = {}) => ok({ id: ID, polling_url: `/api/v1/videos/${ID}`, status, ...more });
const error = (message: string, metadata: object | null = null) => ({ error: { code: 400, message, metadata } });
const created = { status: 202, body: { id: ID, polling_url: `${BASE}/videos/${ID}`, status: "pending" } };

videoUpstreamContract("OpenRouter", {
  open: openrouterVideos,
  basePath: BASE,
  order: videoOrder(),
  created: { answer: created, handle: JOB },
  longId: { answer: { status: 202, body: '{"id":"90071992547409931"}' }, id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [job("pending")], means: { status: "pending", isRunning: false } },
    { answers: [job("in_progress")], means: { status: "pending", isRunning: true } },
    {
      answers: [job("completed", { unsigned_urls: [URL_ELSEWHERE], usage: { cost: 0.42, is_byok: false } })],
      means: {
        status: "completed",
        results: [{ url: URL_ELSEWHERE, needsCredential: false }],
        consumption: { seconds: null, costUsd: "0.4200000000" },
      },
    },
    {
      answers: [job("completed", { unsigned_urls: [`/api/v1/videos/${ID}/content?index=0`], usage: { cost: 0 } })],
      means: {
        status: "completed",
        results: [{ url: null, needsCredential: true }],
        consumption: { seconds: null, costUsd: null },
      },
    },
    {
      answers: [job("completed", { urls: [URL_ELSEWHERE], usage: null })],
      means: {
        status: "completed",
        results: [{ url: URL_ELSEWHERE, needsCredential: false }],
        consumption: { seconds: null, costUsd: null },
      },
    },
    {
      answers: [job("failed", { error: "Blocked by the provider's content policy" })],
      means: {
        status: "failed",
        code: "content_policy_violation",
        message: "Blocked by the provider's content policy",
      },
    },
    {
      answers: [job("failed", { error: "Provider timed out" })],
      means: { status: "failed", code: "upstream_error", message: "Provider timed out" },
    },
    {
      answers: [job("failed")],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
    { answers: [job("cancelled")], means: { status: "cancelled" } },
    { answers: [job("expired")], means: { status: "expired" } },
  ],
  unknownStatus: { answers: [job("dreaming")], status: "dreaming" },
  emptySuccesses: [
    [job("completed")],
    [job("completed", { unsigned_urls: [] })],
    [job("completed", { unsigned_urls: null, usage: { cost: 1 } })],
    [job("completed", { unsigned_urls: [""] })],
  ],
  contentRefusals: [
    { status: 403, body: error("Your input was flagged", { reasons: ["violence"], flagged_input: "a …" }) },
    { status: 403, body: error("Your input was flagged", { flagged_input: "a …" }) },
  ],
  refusal: (message) => error(message),
  cancels: null,
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([created], async ({ outbound, vendor }) => {
    await openrouterVideos(outbound).create(videoOrder(order));
    assertEquals(vendor.seen[0]?.path, `${BASE}/videos`);
    return JSON.parse(itemAt(vendor.seen, 0).body);
  }, BASE);
}

Deno.test("OpenRouter videos: a text prompt is sent with shape, seed, audio and callback URL", async () => {
  const callbackUrl = "https://gateway.example.invalid/v1/vendor-news/secret";
  const order = { aspectRatio: "16:9", resolution: "4K", seed: 7, generateAudio: false, callbackUrl };
  assertEquals(await sent(order), {
    model: "a-model",
    prompt: "a lighthouse",
    duration: 5,
    resolution: "4K",
    aspect_ratio: "16:9",
    generate_audio: false,
    seed: 7,
    callback_url: callbackUrl,
  });
});

Deno.test("OpenRouter videos: fields that the caller did not set are not sent", async () => {
  for (const durationSeconds of [null, -1]) {
    assertEquals(Object.keys(await sent({ durationSeconds, resolution: null })).sort(), ["model", "prompt"]);
  }
});

Deno.test("OpenRouter videos: a size is sent unchanged, without the resolution that is charged", async () => {
  const { size, resolution, aspect_ratio } = await sent({ size: { width: 1280, height: 720 }, resolution: "720p" });
  assertEquals([size, resolution, aspect_ratio], ["1280x720", undefined, undefined]);
});

Deno.test("OpenRouter videos: frames are sent with their roles, references with their types", async () => {
  const frames = await sent({
    mode: "img2video_end",
    firstFrame: mediaAt("image", "https://example.invalid/a.png"),
    lastFrame: mediaAt("image", "data:image/png;base64,AAAA"),
  });
  assertEquals(frames.frame_images, [
    { type: "image_url", image_url: { url: "https://example.invalid/a.png" }, frame_type: "first_frame" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" }, frame_type: "last_frame" },
  ]);
  const mixed = await sent({
    mode: "mixref2video",
    references: [mediaAt("image"), mediaAt("audio"), mediaAt("video")],
  });
  assertEquals(mixed.input_references, [
    { type: "image_url", image_url: { url: "https://example.invalid/image" } },
    { type: "audio_url", audio_url: { url: "https://example.invalid/audio" } },
    { type: "video_url", video_url: { url: "https://example.invalid/video" } },
  ]);
});

Deno.test("OpenRouter videos: options are sent, and the request's own fields take precedence", async () => {
  const provider = { options: { "google-vertex": { negativePrompt: "fog" } } };
  const body = await sent({ options: { provider, session_id: "s-1", model: "dear", duration: 30 } });
  assertEquals([body.provider, body.session_id, body.model, body.duration], [provider, "s-1", "a-model", 5]);
});

Deno.test("OpenRouter videos: options for size, quality and an earlier job are refused", () =>
  withAnswers([], ({ outbound }) => {
    const refused = openrouterVideos(outbound).refusedOptions!;
    for (const name of ["aspectratio", "previousjobid", "creativity", "mode", "inputreferences"]) {
      assertEquals(typeof refused[name], "string", name);
    }
    return Promise.resolve();
  }));

/** Runs with a vendor whose responses depend on the origin of the request. */
function replying<T>(
  answers: readonly ((origin: string) => string)[],
  play: (videos: VideoUpstream, vendor: VendorStage["vendor"]) => Promise<T>,
): Promise<T> {
  let nth = 0;
  return withVendor(
    async (side) => {
      for (let request = await side.request(); request !== null; request = await side.request()) {
        await side.say(itemAt(answers, nth++)(`http://${request.headers.get("host")}`));
      }
    },
    ({ outbound, vendor }) => play(openrouterVideos(outbound), vendor),
    BASE,
  );
}

Deno.test("OpenRouter videos: a polling URL is used only on the provider's own host and for this job", async () => {
  const placeFor = (pollingUrl: (origin: string) => string) =>
    replying(
      [(origin) => answer(202, JSON.stringify({ id: ID, polling_url: pollingUrl(origin) }))],
      async (videos) => (await videos.create(videoOrder())).place,
    );
  assertEquals(await placeFor((origin) => `${origin}${BASE}/videos/${ID}`), null);
  assertEquals(await placeFor((origin) => `${origin}${BASE}/jobs/${ID}?v=2`), `/jobs/${ID}?v=2`);
  assertEquals(await placeFor((origin) => `${origin}${BASE}/videos/another`), null);
  assertEquals(await placeFor((origin) => `${origin}/elsewhere/${ID}`), null);
  assertEquals(await placeFor(() => `https://evil.example.invalid${BASE}/videos/${ID}`), null);
});

Deno.test("OpenRouter videos: a result on the provider's own host is opened with its key", () => {
  const content = `${BASE}/videos/${ID}/content`;
  const finished = (origin: string) => ({ status: "completed", unsigned_urls: [`${origin}${content}?index=0`] });
  return replying([
    (origin) => answer(200, JSON.stringify(finished(origin))),
    () => answer(200, "an mp4", { "content-type": "video/mp4" }),
    () => answer(302, "", { location: URL_ELSEWHERE }),
    () => answer(200, '{"error":"gone"}'),
  ], async (videos, { seen }) => {
    const progress = await videos.poll(JOB);
    const result = itemAt(progress.status === "completed" ? progress.results : [], 0);
    assertEquals(result?.needsCredential, true);
    const opened = await videos.open!(result, JOB);
    assertEquals("bytes" in opened && new TextDecoder().decode(await bytesOf(opened.bytes)), "an mp4");
    assertEquals([seen[1]?.path, seen[1]?.headers.get("authorization")], [`${content}?index=0`, `Bearer ${STAGE_KEY}`]);
    assertEquals(await videos.open!(result, JOB), { movedTo: URL_ELSEWHERE });
    const failure = await assertRejects(() => videos.open!({ url: null, needsCredential: true }, JOB), UpstreamFailure);
    assertEquals([failure.kind, itemAt(seen, 3).path], ["broken", content]);
  });
});

Deno.test("OpenRouter videos: the key is sent to no other host", () =>
  withAnswers([], async ({ outbound, vendor }) => {
    const result = { url: "https://evil.example.invalid/api/v1/videos/x", needsCredential: true };
    await assertRejects(() => openrouterVideos(outbound).open!(result, JOB), UpstreamFailure);
    assertEquals(vendor.seen.length, 0);
  }, BASE));
