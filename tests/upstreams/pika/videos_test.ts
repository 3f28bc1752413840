import { assertEquals } from "@std/assert";
import { pikaVideos } from "../../../src/vendors/upstreams/pika/videos.ts";
import type { VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { mediaAt, ok, videoOrder, withAnswers } from "../../support/vendor_stage.ts";
import { withVendor } from "../vendor.ts";

const JOB = { id: "media-1", place: null };
const RESULT = "https://cdn.example.invalid/out.mp4";

const job = (status: string, more: object = {}) => ok({ id: JOB.id, status, output: null, error: null, ...more });
const refused = (code: string, message = "no") => ({ id: "media-2", status: "failed", error: { code, message } });
const done = (output: unknown, billing: unknown = { state: "pending" }) => job("completed", { output, billing });
const created = job("queued");
const consumption = { seconds: null, costUsd: null };
const results = [{ url: RESULT, needsCredential: false }];
const video = { media_type: "video", video: { url: RESULT, content_type: "video/mp4" } };

videoUpstreamContract("Pika", {
  open: pikaVideos,
  basePath: "",
  order: videoOrder(),
  created: { answer: created, handle: JOB },
  longId: { answer: ok('{"id":90071992547409931,"status":"queued"}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [job("queued")], means: { status: "pending", isRunning: false } },
    { answers: [job("running")], means: { status: "pending", isRunning: true } },
    { answers: [done(video)], means: { status: "completed", results, consumption } },
    { answers: [done({ videos: [{ url: RESULT }] })], means: { status: "completed", results, consumption } },
    {
      answers: [done(video, { state: "settled", charge_micro_usd: 450_000 })],
      means: { status: "completed", results, consumption: { seconds: null, costUsd: "0.4500000000" } },
    },
    // Not settled: the amount can change.
    {
      answers: [done(video, { state: "pending", charge_micro_usd: 450_000 })],
      means: { status: "completed", results, consumption },
    },
    {
      answers: [job("failed", { error: { code: "content_moderation", message: "flagged" } })],
      means: { status: "failed", code: "content_policy_violation", message: "flagged" },
    },
    {
      answers: [job("failed", { error: { code: "provider_timeout", message: "" } })],
      means: { status: "failed", code: "upstream_error", message: "provider_timeout" },
    },
    {
      answers: [job("failed")],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
  ],
  unknownStatus: { answers: [job("postprocessing")], status: "postprocessing" },
  emptySuccesses: [[job("completed")], [done({ video: null })], [done({ videos: [] })], [done({ video: { url: "" } })]],
  contentRefusals: [
    { status: 422, body: refused("content_moderation", "flagged") },
    { status: 403, body: refused("content_moderation", "flagged") },
    { status: 200, body: refused("content_moderation", "flagged") },
  ],
  refusal: (message) => ({ message }),
  cancels: null,
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([created], async ({ outbound, vendor }) => {
    await pikaVideos(outbound).create(videoOrder({ model: "pika-2.5", ...order }));
    const { path, body } = itemAt(vendor.seen, 0);
    const { prompt: _prompt, ...fields } = JSON.parse(body);
    return [path, fields];
  });
}

const A = mediaAt("image", "https://example.invalid/a.png");
const B = mediaAt("image", "https://example.invalid/b.png");

Deno.test("Pika videos: the operation is in the path, and frames select it", async () => {
  assertEquals(await sent({ resolution: "1080p", seed: 7, options: { negative_prompt: "blur", duration_s: 9 } }), [
    "/v1/media/pika/pika-2.5/text-to-video",
    { negative_prompt: "blur", duration_s: 5, resolution: "1080p", seed: 7 },
  ]);
  assertEquals(await sent({ mode: "img2video", firstFrame: A, durationSeconds: 10, aspectRatio: "16:9" }), [
    "/v1/media/pika/pika-2.5/image-to-video",
    { duration_s: 10, resolution: "720p", image: A.value },
  ]);
  assertEquals(await sent({ model: "pikaframes", mode: "img2video_end", firstFrame: A, lastFrame: B }), [
    "/v1/media/pika/pikaframes/image-to-video",
    { transition_duration_s: 5, resolution: "720p", images: [A.value, B.value] },
  ]);
  assertEquals(await sent({ durationSeconds: -1, resolution: null, seed: -1 }), [
    "/v1/media/pika/pika-2.5/text-to-video",
    {},
  ]);
});

Deno.test("Pika videos: sound and ratio, for which the vendor has no field, are named as dropped", () =>
  withAnswers([], ({ outbound }) => {
    const dropped = (order: Partial<VideoOrder>) => pikaVideos(outbound).droppedFields!(videoOrder(order));
    assertEquals(dropped({ seed: 1, generateAudio: false, aspectRatio: null }), []);
    assertEquals(dropped({ generateAudio: true, aspectRatio: "16:9" }), ["generate_audio", "aspect_ratio"]);
    return Promise.resolve();
  }));

Deno.test("Pika videos: codes of the operator's account do not blame the request, whatever their status", async () => {
  for (
    const [status, code, kind] of [
      [403, "insufficient_balance", "unavailable"],
      [403, "membership_required", "unavailable"],
      [200, "cycle_limit_exceeded", "unavailable"],
      [200, "rate_limited", "rate_limited"],
      [200, "invalid_input", "invalid"],
      [200, "provider_unavailable", "unavailable"],
    ] as const
  ) {
    const failure = await withAnswers(
      [{ status, body: refused(code) }],
      ({ outbound }) => pikaVideos(outbound).create(videoOrder()).catch((thrown) => thrown),
    );
    const { kind: actual, message, facts } = failure;
    assertEquals([actual, message, facts.accepted, facts.vendorCode], [kind, "no", "no", code]);
  }
});

Deno.test("Pika's requests carry the key in the field x-api-key", () =>
  withVendor("pika", [{ body: { balance_micro_usd: 1 } }], async (provider, seen) => {
    await provider.probe!(new AbortController().signal);
    const { headers } = itemAt(seen, 0);
    assertEquals([headers.get("authorization"), headers.has("x-api-key")], [null, true]);
  }));
