import { assertEquals } from "@std/assert";
import type { VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { viduVideos } from "../../../src/vendors/upstreams/vidu/videos.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";
import { withVendor } from "../vendor.ts";

const JOB = { id: "856497845643", place: null };
const RESULT = "https://cdn.example.invalid/out.mp4";
const COVER = "https://cdn.example.invalid/out.png";

const job = (state: string, more: object = {}) => ok({ state, err_code: "", credits: 20, payload: "", ...more });
const error = (reason: string, message: string, code = 400) => ({
  code,
  reason,
  message,
  metadata: { trace_id: "trace-1" },
});
const created = ok({ task_id: JOB.id, state: "created", model: "viduq3-pro" });
const done = (creations: unknown) => job("success", { creations });
const scheduled = { status: 400, body: error("BadRequest", "task state is scheduled, can not cancel") };
const consumption = { seconds: null, costUsd: null };
const results = [{ url: RESULT, needsCredential: false }];

videoUpstreamContract("Vidu", {
  open: viduVideos,
  basePath: "",
  order: videoOrder(),
  created: { answer: created, handle: JOB },
  longId: { answer: ok('{"task_id":90071992547409931}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [job("created")], means: { status: "pending", isRunning: false } },
    { answers: [job("queueing", { creations: null })], means: { status: "pending", isRunning: false } },
    { answers: [job("processing")], means: { status: "pending", isRunning: true } },
    {
      answers: [done([{ id: "c", url: RESULT, cover_url: COVER }])],
      means: { status: "completed", results, extras: [{ type: "thumbnail", url: COVER }], consumption },
    },
    { answers: [done([{ id: "c", url: RESULT }])], means: { status: "completed", results, consumption } },
    {
      answers: [job("failed", { err_code: "CreationPolicyViolation", creations: [] })],
      means: { status: "failed", code: "content_policy_violation", message: "CreationPolicyViolation" },
    },
    {
      answers: [job("failed", { err_code: "ImageDownloadFailure" })],
      means: { status: "failed", code: "upstream_error", message: "ImageDownloadFailure" },
    },
    {
      answers: [job("failed", { err_code: null })],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
    { answers: [job("failed", { err_code: "UserCancelled" })], means: { status: "cancelled" } },
  ],
  unknownStatus: { answers: [job("scheduled")], status: "scheduled" },
  emptySuccesses: [[job("success")], [done(null)], [done([])], [done([{ id: "c", url: "" }])]],
  contentRefusals: [
    { status: 400, body: error("AuditSubmitIllegal", "submit is illegal") },
    { status: 400, body: error("TaskPromptPolicyViolation", "prompt policy violation") },
  ],
  refusal: (message) => error("BadRequest", message),
  cancels: [
    { answers: [job("queueing"), ok({})], outcome: "cancelled" },
    { answers: [job("processing")], outcome: "too_late" },
    { answers: [job("queueing"), scheduled, job("queueing")], outcome: "too_late" },
    { answers: [job("queueing"), scheduled, job("processing")], outcome: "too_late" },
    { answers: [job("queueing"), scheduled, done([{ url: RESULT }])], outcome: "gone" },
    { answers: [done([{ url: RESULT }])], outcome: "gone" },
    { answers: [job("failed", { err_code: "UserCancelled" })], outcome: "cancelled" },
  ],
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([created], async ({ outbound, vendor }) => {
    await viduVideos(outbound).create(videoOrder({ model: "viduq3-pro", ...order }));
    const { path, body } = itemAt(vendor.seen, 0);
    const { model: _model, prompt: _prompt, ...fields } = JSON.parse(body);
    return [path, fields];
  });
}

const A = mediaAt("image", "https://example.invalid/a.png");
const B = mediaAt("image", "data:image/png;base64,AAAA");

Deno.test("Vidu videos: a text is sent with its shape, seed, sound and callback URL", async () => {
  const callbackUrl = "https://gateway.example.invalid/news/secret";
  const order = { resolution: "480p", aspectRatio: "9:16", seed: 7, generateAudio: false, callbackUrl };
  assertEquals(await sent({ ...order, options: { movement_amplitude: "large", duration: 9 } }), [
    "/ent/v2/text2video",
    {
      movement_amplitude: "large",
      duration: 5,
      resolution: "540p",
      aspect_ratio: "9:16",
      audio: false,
      seed: 7,
      callback_url: callbackUrl,
    },
  ]);
  assertEquals(await sent({ durationSeconds: -1, resolution: null, seed: -1 }), ["/ent/v2/text2video", {}]);
});

Deno.test("Vidu videos: frames have their own paths, and decide the ratio", async () => {
  const one = { mode: "img2video", firstFrame: A, aspectRatio: "16:9" } as const;
  assertEquals(await sent(one), ["/ent/v2/img2video", { duration: 5, resolution: "720p", images: [A.value] }]);
  const two = { mode: "img2video_end", firstFrame: A, lastFrame: B } as const;
  assertEquals(await sent(two), [
    "/ent/v2/start-end2video",
    { duration: 5, resolution: "720p", images: [A.value, B.value] },
  ]);
});

Deno.test("Vidu videos: references are images and, for a model that takes them, videos", async () => {
  const clip = mediaAt("video", "https://example.invalid/a.mp4");
  const order = { mode: "mixref2video", references: [A, clip, B], aspectRatio: "4:3", model: "viduq2-pro" } as const;
  assertEquals(await sent(order), [
    "/ent/v2/reference2video",
    { duration: 5, resolution: "720p", aspect_ratio: "4:3", images: [A.value, B.value], videos: [clip.value] },
  ]);
});

Deno.test("Vidu videos: fields that a model or a path has no field for are named as dropped", () =>
  withAnswers([], ({ outbound }) => {
    const dropped = (order: Partial<VideoOrder>) => viduVideos(outbound).droppedFields!(videoOrder(order));
    const frames = { mode: "img2video_end", firstFrame: A, lastFrame: B } as const;
    assertEquals(dropped({ model: "viduq3-turbo", generateAudio: true, seed: 1, aspectRatio: "1:1" }), []);
    assertEquals(dropped({ model: "viduq3-pro", ...frames, generateAudio: true }), []);
    assertEquals(dropped({ model: "viduq2", generateAudio: true }), ["generate_audio"]);
    assertEquals(dropped({ model: "viduq2-pro", mode: "img2video", firstFrame: A, generateAudio: true }), []);
    assertEquals(dropped({ model: "viduq2-pro", ...frames, generateAudio: true, aspectRatio: "1:1" }), [
      "generate_audio",
      "aspect_ratio",
    ]);
    assertEquals(dropped({ model: "viduq1", generateAudio: true }), ["generate_audio"]);
    assertEquals(dropped({ model: "viduq1", generateAudio: false }), []);
    return Promise.resolve();
  }));

Deno.test("Vidu videos: codes of the operator's account or of a busy vendor do not blame the request", async () => {
  for (const [reason, kind] of [["CreditInsufficient", "unavailable"], ["OperationInProcess", "rate_limited"]]) {
    const failure = await withAnswers(
      [{ status: 400, body: error(String(reason), "no") }],
      ({ outbound }) => viduVideos(outbound).create(videoOrder()).catch((thrown) => thrown),
    );
    assertEquals([failure.kind, failure.facts.accepted, failure.facts.vendorCode], [kind, "no", reason]);
  }
});

Deno.test("Vidu's requests have the vendor's own scheme of authorization", () =>
  withVendor("vidu", [{ body: { remains: [] } }], async (provider, seen) => {
    await provider.probe!(new AbortController().signal);
    assertEquals(itemAt(seen, 0).headers.get("authorization")?.split(" ")[0], "Token");
  }));

Deno.test({
  name: "Vidu videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const [create, cancelled, refused] = ["create", "cancel-ok", "cancel-refused"].map((name) =>
      recordedAnswer(`vidu/shape-${name}`)!
    );
    const play = <T>(answers: Parameters<typeof withAnswers>[0], run: (videos: ReturnType<typeof viduVideos>) => T) =>
      withAnswers(answers, ({ outbound }) => Promise.resolve(run(viduVideos(outbound))));
    assertEquals(await play([create!], (videos) => videos.create(videoOrder())), { id: "task-1", place: null });
    assertEquals(await play([job("queueing"), cancelled!], (videos) => videos.cancel!(JOB)), "cancelled");
    assertEquals(await play([job("queueing"), refused!, job("queueing")], (videos) => videos.cancel!(JOB)), "too_late");
  },
});
