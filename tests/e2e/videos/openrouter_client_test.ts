import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { OpenRouter } from "@openrouter/sdk";
import { BadRequestResponseError, NotFoundResponseError } from "@openrouter/sdk/models/errors";
import type { VideoGenerationResponse } from "@openrouter/sdk/models";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import { itemAt } from "../../support/items.ts";
import { ALL_MODES, startVideoGateway } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway();
const client = new OpenRouter({
  apiKey: gateway.key,
  serverURL: `${gateway.address}/v1`,
  retryConfig: { strategy: "none" },
});
const MODEL = "sandbox/video-1";
const PIXEL = "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Polls as in OpenRouter's documentation. */
async function polled(job: VideoGenerationResponse): Promise<VideoGenerationResponse> {
  let current = job;
  while (current.status === "pending" || current.status === "in_progress") {
    await new Promise((resolve) => setTimeout(resolve, 10));
    current = await client.videoGeneration.getGeneration({ jobId: current.id });
  }
  return current;
}

Deno.test("@openrouter/sdk creates from a prompt, polls and downloads", async () => {
  const job = await client.videoGeneration.generate({
    videoGenerationRequest: {
      model: MODEL,
      prompt: "A lighthouse [[queue 20]] [[run 20]]",
      duration: 4,
      resolution: "480p",
      aspectRatio: "9:16",
      seed: 7,
      user: "somebody",
    },
  });
  assertEquals([job.status, job.pollingUrl], ["pending", `${gateway.address}/v1/videos/${job.id}`]);
  const done = await polled(job);
  assertEquals([done.status, done.usage?.cost, done.error], ["completed", 0.2, undefined]);
  assertMatch(itemAt(done.unsignedUrls!, 0), /^http:\/\//);
  const video = await client.videoGeneration.getVideoContent({ jobId: done.id });
  assertEquals(await new Response(video).bytes(), SAMPLE_VIDEO);
  await assertRejects(() => client.videoGeneration.getVideoContent({ jobId: done.id, index: 1 }));
});

Deno.test("@openrouter/sdk creates from frames and from references", async () => {
  const image = { type: "image_url", imageUrl: { url: PIXEL } } as const;
  const framed = await client.videoGeneration.generate({
    videoGenerationRequest: {
      model: MODEL,
      prompt: "It comes alive [[queue 0]] [[run 0]]",
      frameImages: [{ ...image, frameType: "first_frame" }, { ...image, frameType: "last_frame" }],
    },
  });
  const guided = await client.videoGeneration.generate({
    videoGenerationRequest: {
      model: MODEL,
      prompt: "In this style [[queue 0]] [[run 0]]",
      inputReferences: [
        image,
        { type: "video_url", videoUrl: { url: "https://media.example.com/a.mp4" } },
      ],
    },
  });
  assertEquals([(await polled(framed)).status, (await polled(guided)).status], ["completed", "completed"]);
});

Deno.test("@openrouter/sdk gets the error of a failed video", async () => {
  const job = await client.videoGeneration.generate({
    videoGenerationRequest: { model: MODEL, prompt: "No [[queue 0]] [[run 0]] [[refuse]]" },
  });
  const failed = await polled(job);
  assertEquals(failed.status, "failed");
  assertMatch(failed.error!, /^content_policy_violation: /);
});

Deno.test("@openrouter/sdk throws its own errors for the gateway's error responses", async () => {
  const unknown = await assertRejects(
    () => client.videoGeneration.getGeneration({ jobId: crypto.randomUUID() }),
    NotFoundResponseError,
  );
  assertEquals([unknown.statusCode, unknown.error.code], [404, 404]);
  assertEquals(unknown.error.metadata, { code: "not_found" });
  const bad = await assertRejects(
    () => client.videoGeneration.generate({ videoGenerationRequest: { model: MODEL, prompt: " " } }),
    BadRequestResponseError,
  );
  assertEquals(bad.error.metadata, { code: "invalid_request" });
  assertMatch(bad.message, /"prompt"/);
});

Deno.test("@openrouter/sdk lists the models and their capabilities", async () => {
  const { data } = await client.videoGeneration.listVideosModels();
  assertEquals(data.map(({ id }) => id).filter((id) => id.startsWith("sandbox/")).length, data.length);
  const model = data.find(({ id }) => id === MODEL)!;
  assertEquals(ALL_MODES.length, 5, "it is the model of all modes");
  assertEquals(model.supportedFrameImages, ["first_frame", "last_frame"]);
  assertEquals(model.supportedResolutions, ["480p", "720p", "1080p"]);
  assertEquals(model.supportedDurations, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assertEquals(model.generateAudio, false);
  assertEquals(model.pricingSkus, {
    duration_seconds_480p: "0.05",
    duration_seconds_720p: "0.10",
    duration_seconds_1080p: "0.30",
  });
  assert(!data.some(({ id }) => id === "sandbox/chat-1"));
  assertEquals(data.find(({ id }) => id === "sandbox/video-2")?.supportedFrameImages, []);
});

Deno.test({
  name: "the gateway of OpenRouter's client stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
