import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { runway } from "../../../src/vendors/upstreams/runway/mod.ts";
import { runwayVideos } from "../../../src/vendors/upstreams/runway/videos.ts";
import type { VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";
import { withVendor } from "../vendor.ts";

const JOB = { id: "17f20503-6c24-4c16-946b-35dbbce2af2f", place: null };
const RESULT = "https://cdn.example.invalid/out.mp4?token=1";

const task = (status: string, more: object = {}) =>
  ok({ id: JOB.id, createdAt: "2026-11-01T10:00:00Z", status, ...more });
const created = ok({ id: JOB.id, estimatedCost: { credits: 60 } });
const gone = { status: 404, body: { error: "Not found" } };

videoUpstreamContract("Runway", {
  open: runwayVideos,
  basePath: "",
  order: videoOrder({ model: "gen4.5" }),
  created: { answer: created, handle: JOB },
  longId: { answer: ok('{"id":90071992547409931}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [task("PENDING", { estimatedCost: { credits: 1 } })], means: { status: "pending", isRunning: false } },
    { answers: [task("THROTTLED")], means: { status: "pending", isRunning: false } },
    { answers: [task("RUNNING")], means: { status: "pending", isRunning: true } },
    {
      answers: [task("RUNNING", { progress: 0.257 })],
      means: { status: "pending", isRunning: true, progressPercent: 26 },
    },
    { answers: [task("RUNNING", { progress: "half" })], means: { status: "pending", isRunning: true } },
    {
      answers: [task("SUCCEEDED", { output: [RESULT], cost: { credits: 60 } })],
      means: {
        status: "completed",
        results: [{ url: RESULT, needsCredential: false }],
        consumption: { seconds: null, costUsd: "0.6000000000" },
      },
    },
    {
      answers: [task("SUCCEEDED", { output: [RESULT] })],
      means: {
        status: "completed",
        results: [{ url: RESULT, needsCredential: false }],
        consumption: { seconds: null, costUsd: null },
      },
    },
    {
      answers: [task("FAILED", { failure: "Text was rejected", failureCode: "SAFETY.INPUT.TEXT" })],
      means: { status: "failed", code: "content_policy_violation", message: "Text was rejected" },
    },
    {
      answers: [task("FAILED", { failure: "Rejected", failureCode: "INPUT_PREPROCESSING.SAFETY.TEXT" })],
      means: { status: "failed", code: "content_policy_violation", message: "Rejected" },
    },
    {
      answers: [task("FAILED", { failureCode: "INTERNAL.BAD_OUTPUT.CODE01" })],
      means: { status: "failed", code: "upstream_error", message: "INTERNAL.BAD_OUTPUT.CODE01" },
    },
    {
      answers: [task("FAILED")],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
    { answers: [task("CANCELLED", { cost: { credits: 0 } })], means: { status: "cancelled" } },
  ],
  unknownStatus: { answers: [task("DREAMING")], status: "DREAMING" },
  emptySuccesses: [
    [task("SUCCEEDED")],
    [task("SUCCEEDED", { output: null })],
    [task("SUCCEEDED", { output: [] })],
    [task("SUCCEEDED", { output: [""] })],
  ],
  contentRefusals: [],
  refusal: (message) => ({ error: message }),
  cancels: [
    { answers: [task("PENDING"), { status: 204, body: "" }], outcome: "cancelled" },
    { answers: [task("THROTTLED"), { status: 204, body: "" }], outcome: "cancelled" },
    { answers: [task("RUNNING", { progress: 0.9 }), { status: 204, body: "" }], outcome: "cancelled" },
    { answers: [task("RUNNING"), gone], outcome: "cancelled" },
    { answers: [task("CANCELLED")], outcome: "cancelled" },
    { answers: [task("SUCCEEDED", { output: [RESULT] })], outcome: "gone" },
    { answers: [task("FAILED")], outcome: "gone" },
  ],
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([created], async ({ outbound, vendor }) => {
    await runwayVideos(outbound).create(videoOrder(order));
    const { model: _model, ...fields } = JSON.parse(itemAt(vendor.seen, 0).body);
    return [itemAt(vendor.seen, 0).path, fields];
  });
}

Deno.test("Runway videos: a text prompt is sent with the pixels, seed and audio that the model supports", async () => {
  const order = { aspectRatio: "9:16", seed: 7, generateAudio: false } as const;
  const text = { promptText: "a lighthouse", duration: 5, ratio: "720:1280" };
  assertEquals(await sent({ ...order, model: "gen4.5" }), ["/v1/text_to_video", { ...text, seed: 7 }]);
  assertEquals(await sent({ ...order, model: "veo3.1", resolution: "1080p" }), [
    "/v1/text_to_video",
    { ...text, ratio: "1080:1920", audio: false, seed: 7 },
  ]);
});

Deno.test("Runway videos: models without pixels receive a resolution with or without a ratio", async () => {
  const fieldsOf = async (order: Partial<VideoOrder>) => {
    const [, { ratio, resolution }] = await sent(order) as [string, { ratio?: string; resolution?: string }];
    return [ratio, resolution];
  };
  const frame = { mode: "img2video", firstFrame: mediaAt("image") } as const;
  assertEquals(await fieldsOf({ model: "hailuo3", resolution: "2K", aspectRatio: "21:9" }), ["21:9", "2k"]);
  assertEquals(await fieldsOf({ model: "hailuo3", aspectRatio: "21:9", ...frame }), [undefined, "768p"]);
  assertEquals(await fieldsOf({ model: "h3_max", aspectRatio: "16:9" }), [undefined, "768p"]);
  assertEquals(await fieldsOf({ model: "wan3", ...frame }), ["auto_720p", undefined]);
  assertEquals(await fieldsOf({ model: "wan3", aspectRatio: "4:3" }), ["1104:832", undefined]);
  assertEquals(await fieldsOf({ model: "happyhorse_1_0", resolution: "1080p", ...frame }), [undefined, "1080p"]);
});

Deno.test("Runway videos: pixels have the resolution and the nearest ratio, 16:9 by default", async () => {
  const ratioOf = async (order: Partial<VideoOrder>) => (await sent(order))[1].ratio;
  assertEquals(await ratioOf({ model: "seedance2_5", resolution: "480p" }), "854:480");
  assertEquals(await ratioOf({ model: "seedance2", resolution: "4K", aspectRatio: "21:9" }), "3840:1646");
  assertEquals(await ratioOf({ model: "a-newer-model", resolution: "1080p" }), "1920:1080");
  const sized = (width: number, height: number) =>
    ratioOf({ model: "seedance2", resolution: null, size: { width, height } });
  assertEquals(await sized(1470, 630), "1470:630");
  assertEquals(await sized(1366, 768), "1920:1080");
  assertEquals(await sized(600, 600), "960:960");
});

Deno.test("Runway videos: an unsupported shape is rejected before a request is sent", async () => {
  const refused = (order: Partial<VideoOrder>) =>
    withAnswers([], async ({ outbound }) => {
      const { kind, facts } = await assertRejects(
        () => runwayVideos(outbound).create(videoOrder(order)),
        UpstreamFailure,
      );
      return [kind, facts.accepted, facts.field];
    });
  assertEquals(await refused({ model: "gen4.5", resolution: "4K" }), ["invalid", "no", "resolution"]);
  assertEquals(await refused({ model: "veo3.1", aspectRatio: "1:1" }), ["invalid", "no", "aspect_ratio"]);
  const size = { width: 300, height: 200 };
  assertEquals(await refused({ model: "veo3.1", resolution: null, size }), ["invalid", "no", "size"]);
});

Deno.test("Runway videos: frames are sent with their positions to their own endpoint", async () => {
  const [path, { promptImage, ratio }] = await sent({
    model: "gen4.5",
    mode: "img2video_end",
    aspectRatio: "21:9",
    firstFrame: mediaAt("image", "https://example.invalid/a.png"),
    lastFrame: mediaAt("image", "data:image/png;base64,AAAA"),
  });
  assertEquals([path, ratio], ["/v1/image_to_video", "1584:672"]);
  assertEquals(promptImage, [
    { uri: "https://example.invalid/a.png", position: "first" },
    { uri: "data:image/png;base64,AAAA", position: "last" },
  ]);
});

Deno.test("Runway videos: references are sent in a list per media type", async () => {
  const references = [mediaAt("image"), mediaAt("audio"), mediaAt("video")];
  const [path, fields] = await sent({ model: "seedance2", mode: "mixref2video", references });
  assertEquals([path, fields.references, fields.referenceAudio, fields.referenceVideos], [
    "/v1/text_to_video",
    [{ uri: "https://example.invalid/image" }],
    [{ type: "audio", uri: "https://example.invalid/audio" }],
    [{ type: "video", uri: "https://example.invalid/video" }],
  ]);
});

Deno.test("Runway videos: a length that the vendor decides is auto if the model supports it", async () => {
  const lengthOf = async (model: string, durationSeconds: number | null) =>
    (await sent({ model, durationSeconds }))[1].duration;
  assertEquals(await lengthOf("seedance2_5", -1), "auto");
  assertEquals(await lengthOf("veo3.1", -1), undefined);
  assertEquals(await lengthOf("seedance2_5", null), undefined);
});

Deno.test("Runway videos: unsupported fields are named as dropped", () =>
  withAnswers([], ({ outbound }) => {
    const dropped = (order: Partial<VideoOrder>) => runwayVideos(outbound).droppedFields!(videoOrder(order));
    const all = { seed: 1, generateAudio: false, aspectRatio: "16:9" } as const;
    const frame = { mode: "img2video", firstFrame: mediaAt("image") } as const;
    assertEquals(dropped({ ...all, model: "veo3.1" }), []);
    assertEquals(dropped({ ...all, model: "gen4.5" }), ["generate_audio"]);
    assertEquals(dropped({ ...all, model: "wan3" }), ["seed"]);
    assertEquals(dropped({ ...all, model: "wan3", ...frame }), ["seed", "aspect_ratio"]);
    assertEquals(dropped({ ...all, model: "hailuo3" }), ["seed", "generate_audio"]);
    assertEquals(dropped({ ...all, model: "hailuo3", ...frame }), ["seed", "generate_audio", "aspect_ratio"]);
    assertEquals(dropped({ ...all, model: "h3_max" }), ["generate_audio", "aspect_ratio"]);
    assertEquals(dropped({ model: "h3_max" }), []);
    return Promise.resolve();
  }));

Deno.test("Runway videos: options are sent, and the request's own fields take precedence", async () => {
  const options = { contentModeration: { publicFigureThreshold: "low" }, duration: 10, ratio: "1920:1080" };
  const [, fields] = await sent({ model: "gen4.5", options });
  assertEquals([fields.contentModeration, fields.duration, fields.ratio], [options.contentModeration, 5, "1280:720"]);
});

Deno.test("Runway videos: a refusal contains the first issue and its path", async () => {
  const body = {
    error: "Validation of body failed",
    issues: [{ code: "invalid_value", path: ["promptImage", 0, "uri"], message: "Invalid URL" }],
  };
  await withAnswers([{ status: 400, body }], async ({ outbound }) => {
    const failure = await assertRejects(() => runwayVideos(outbound).create(videoOrder()), UpstreamFailure);
    assertEquals(failure.message, "Validation of body failed: promptImage.0.uri: Invalid URL");
  });
});

Deno.test("Runway's requests contain the API version, and its probe is free", () =>
  withVendor("runway", [{ body: { creditBalance: 1 } }], async (provider, seen) => {
    await provider.probe!(new AbortController().signal);
    assertEquals([seen[0]?.method, seen[0]?.path], ["GET", "/base/v1/organization"]);
    assertEquals(itemAt(seen, 0).headers.get("x-runway-version"), runway.requiredHeaders["x-runway-version"]);
  }));

Deno.test({
  name: "Runway videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const progress = (name: string) =>
      withAnswers([recordedAnswer(`runway/${name}`)!], ({ outbound }) => runwayVideos(outbound).poll(JOB));
    assertEquals(await progress("shape-running"), { status: "pending", isRunning: true, progressPercent: 25 });
    assertEquals(await progress("shape-succeeded"), {
      status: "completed",
      results: [{ url: "https://example.invalid/out.mp4", needsCredential: false }],
      consumption: { seconds: null, costUsd: "0.6000000000" },
    });
    assertEquals(await progress("shape-cancelled"), { status: "cancelled" });
  },
});
