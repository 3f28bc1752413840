import { assert, assertEquals, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import type { Outbound } from "../../../src/vendors/upstreams/call/outbound_call.ts";
import { googlePaths } from "../../../src/vendors/upstreams/vertex/publisher.ts";
import { vertexVideos } from "../../../src/vendors/upstreams/vertex/videos.ts";
import type { VideoMedia, VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const RESOURCE = "/v1/projects/acme/locations/us-central1";
const MODELS = `${RESOURCE}/publishers/google/models`;
const NAME = "projects/acme/locations/us-central1/publishers/google/models/a-model/operations/op-1";
const JOB = { id: NAME, place: `${MODELS}/a-model:fetchPredictOperation` };

const open = (outbound: Outbound) => vertexVideos(outbound, googlePaths(RESOURCE));
const operation = (more: object = {}) => ok({ name: NAME, ...more });
const done = (response: object) => operation({ done: true, response });
const video = (bytes: Uint8Array) => ({
  mimeType: "video/mp4",
  bytesBase64Encoded: Buffer.from(bytes).toString("base64"),
});
const error = (code: number, message: string, status = "INVALID_ARGUMENT") => ({ error: { code, message, status } });
const failedAs = (code: "content_policy_violation" | "upstream_error", message: string) => ({
  status: "failed" as const,
  code,
  message,
});
const COMPLETED = {
  status: "completed" as const,
  results: [{ url: null, needsCredential: true }],
  consumption: { seconds: null, costUsd: null },
};
/** Longer than what a poll reads. */
const LARGE = new Uint8Array(300_001).map((_, at) => (at * 31 + (at >> 8)) & 255);

videoUpstreamContract("Veo at Vertex AI", {
  open,
  basePath: "",
  order: videoOrder(),
  created: { answer: operation(), handle: JOB },
  longId: { answer: ok('{"name":"operations/90071992547409931"}'), id: "operations/90071992547409931" },
  job: JOB,
  progress: [
    { answers: [operation()], means: { status: "pending", isRunning: null } },
    { answers: [operation({ done: false })], means: { status: "pending", isRunning: null } },
    { answers: [done({ videos: [video(new Uint8Array([1, 2, 3]))] })], means: COMPLETED },
    { answers: [done({ videos: [video(LARGE)] })], means: COMPLETED },
    {
      answers: [done({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["17301594: Celebrity"], videos: [] })],
      means: failedAs("content_policy_violation", "17301594: Celebrity"),
    },
    {
      answers: [done({ raiMediaFilteredCount: 1 })],
      means: failedAs("content_policy_violation", "The video was rejected by the vendor's content moderation"),
    },
    {
      answers: [operation({ done: true, error: { code: 13, message: "Boom" } })],
      means: failedAs("upstream_error", "Boom"),
    },
    {
      answers: [
        operation({ done: true, error: { code: 3, message: "It contains words that violate usage guidelines." } }),
      ],
      means: failedAs("content_policy_violation", "It contains words that violate usage guidelines."),
    },
  ],
  unknownStatus: null,
  emptySuccesses: [
    [operation({ done: true })],
    [done({})],
    [done({ videos: null })],
    [done({ videos: [{ bytesBase64Encoded: "" }] })],
    [done({ videos: [{ gcsUri: "gs://bucket/a.mp4" }] })],
  ],
  contentRefusals: [
    { status: 400, body: error(400, "The prompt contains words that violate usage guidelines.") },
    { status: 400, body: error(400, "Blocked", "PROHIBITED_CONTENT") },
  ],
  refusal: (message) => error(400, message),
  cancels: null,
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([operation()], async ({ outbound, vendor }) => {
    await open(outbound).create(videoOrder({ model: "veo-3.1-generate-001", ...order }));
    const { path, body } = itemAt(vendor.seen, 0);
    assertEquals(path, `${MODELS}/veo-3.1-generate-001:predictLongRunning`);
    return JSON.parse(body);
  });
}

function picture(value: string): VideoMedia {
  return { medium: "image", mediaType: "image/png", form: "base64", value };
}

const image = (value: string) => ({ bytesBase64Encoded: value, mimeType: "image/png" });

Deno.test("Veo at Vertex AI: a text has one instance and its parameters", async () => {
  const order = { durationSeconds: 8, resolution: "4K", aspectRatio: "9:16", seed: 0, generateAudio: false };
  assertEquals(await sent({ ...order, options: { negativePrompt: "rain", sampleCount: 4 } }), {
    instances: [{ prompt: "a lighthouse" }],
    parameters: {
      negativePrompt: "rain",
      sampleCount: 1,
      resolution: "4k",
      aspectRatio: "9:16",
      durationSeconds: 8,
      generateAudio: false,
      seed: 0,
    },
  });
  const { parameters } = await sent({ durationSeconds: -1, resolution: null, seed: -1 });
  assertEquals(parameters, { sampleCount: 1 });
});

Deno.test("Veo at Vertex AI: frames and references are sent as bytes", async () => {
  const frames = await sent({ mode: "img2video_end", firstFrame: picture("AAAA"), lastFrame: picture("BBBB") });
  assertEquals(frames.instances, [{ prompt: "a lighthouse", image: image("AAAA"), lastFrame: image("BBBB") }]);
  const { instances } = await sent({ mode: "imgref2video", references: [picture("AAAA"), picture("BBBB")] });
  const referenceImages = ["AAAA", "BBBB"].map((value) => ({ image: image(value), referenceType: "asset" }));
  assertEquals(instances, [{ prompt: "a lighthouse", referenceImages }]);
});

Deno.test("Veo at Vertex AI: a seed that the vendor cannot read is refused before anything is sent", async () => {
  await withAnswers([], async ({ outbound }) => {
    const failure = await assertRejects(() => open(outbound).create(videoOrder({ seed: 2 ** 32 })), UpstreamFailure);
    assertEquals([failure.kind, failure.facts.field], ["invalid", "seed"]);
  });
});

/** The bytes of the result in this answer. */
async function resultIn(body: unknown): Promise<Uint8Array> {
  return await withAnswers([ok(body)], async ({ outbound, vendor }) => {
    const opened = await open(outbound).open!({ url: null, needsCredential: true }, JOB);
    assert("bytes" in opened);
    const pieces: Uint8Array[] = [];
    for await (const piece of opened.bytes) pieces.push(piece);
    assertEquals(JSON.parse(itemAt(vendor.seen, 0).body), { operationName: NAME });
    return new Uint8Array(Buffer.concat(pieces));
  });
}

Deno.test("Veo at Vertex AI: a video is decoded while it arrives, whatever its length and the writer's escapes", async () => {
  for (const length of [1, 2, 3, 4, 65_535, LARGE.length]) {
    const bytes = LARGE.subarray(0, length);
    assertEquals(await resultIn({ name: NAME, done: true, response: { videos: [video(bytes)] } }), bytes.slice());
    const json = JSON.stringify(
      { name: NAME, done: true, response: { videos: [video(bytes), video(bytes)] } },
      null,
      2,
    );
    const escaped = json.replaceAll("=", "\\u003d").replaceAll("+", "\\u002B").replaceAll(/\/(?=[^"]{60})/g, "\\/");
    assertEquals(await resultIn(escaped), bytes.slice());
  }
});

Deno.test("Veo at Vertex AI: a response without a complete video is broken", async () => {
  const cut = JSON.stringify({ response: { videos: [video(LARGE)] } }).slice(0, 200_000);
  for (const body of [{ name: NAME }, cut, '{"bytesBase64Encoded":"A*AA"}']) {
    const failure = await assertRejects(() => resultIn(body), UpstreamFailure);
    assertEquals(failure.kind, "broken");
  }
});

for (
  const [name, means] of [
    ["shape-veo-running-no-done-key", { status: "pending", isRunning: null }],
    ["shape-veo-done-filtered", failedAs("content_policy_violation", "17301594: Celebrity")],
    [
      "shape-veo-done-error",
      failedAs(
        "content_policy_violation",
        "The prompt could not be submitted. This prompt contains words that violate usage guidelines.",
      ),
    ],
  ] as const
) {
  Deno.test({
    name: `Veo at Vertex AI: ${name} is read (skipped without recordings)`,
    ignore: RECORDINGS === null,
    fn: async () => {
      const recorded = recordedAnswer(`google-vertex/${name}`);
      assert(recorded !== null);
      const progress = await withAnswers([recorded], ({ outbound }) => open(outbound).poll(JOB));
      assertEquals(progress, means);
    },
  });
}
