import { assertEquals } from "@std/assert";
import { dreamMachineVideos } from "../../../src/vendors/upstreams/luma/dream_machine.ts";
import type { VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { mediaAt, ok, recordedAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const JOB = { id: "123e4567-e89b-12d3-a456-426614174000", place: null };
const RESULT = "https://cdn.example.invalid/out.mp4";
const COVER = "https://cdn.example.invalid/out.jpg";
const consumption = { seconds: null, costUsd: null };

const job = (state: string, more: object = {}) =>
  ok({ id: JOB.id, generation_type: "video", state, failure_reason: null, assets: null, ...more });
const created = { ...job("queued"), status: 201 };
const failed = (failure_reason: string | null) => job("failed", { failure_reason });

videoUpstreamContract("Dream Machine", {
  open: dreamMachineVideos,
  basePath: "/dream-machine/v1",
  order: videoOrder(),
  created: { answer: created, handle: JOB },
  longId: { answer: ok('{"id":90071992547409931}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [job("queued")], means: { status: "pending", isRunning: false } },
    { answers: [job("dreaming")], means: { status: "pending", isRunning: true } },
    {
      answers: [job("completed", { assets: { video: RESULT, image: COVER } })],
      means: {
        status: "completed",
        results: [{ url: RESULT, needsCredential: false }],
        extras: [{ type: "thumbnail", url: COVER }],
        consumption,
      },
    },
    {
      answers: [failed("Prompt did not pass moderation")],
      means: { status: "failed", code: "content_policy_violation", message: "Prompt did not pass moderation" },
    },
    { answers: [failed("Boom")], means: { status: "failed", code: "upstream_error", message: "Boom" } },
    {
      answers: [failed(null)],
      means: { status: "failed", code: "upstream_error", message: 'Provider "acme" failed to process the request' },
    },
  ],
  unknownStatus: { answers: [job("sleeping")], status: "sleeping" },
  emptySuccesses: [[job("completed")], [job("completed", { assets: {} })], [
    job("completed", { assets: { video: "" } }),
  ]],
  contentRefusals: [{ status: 400, body: { detail: "Prompt did not pass moderation" } }],
  refusal: (msg) => ({ detail: [{ type: "value_error", loc: ["body", "duration"], msg }] }),
  cancels: null,
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([created], async ({ outbound, vendor }) => {
    await dreamMachineVideos(outbound).create(videoOrder({ model: "ray-2", ...order }));
    const { path, body } = itemAt(vendor.seen, 0);
    assertEquals(path, "/generations/video");
    const { model, generation_type, prompt, ...fields } = JSON.parse(body);
    assertEquals([model, generation_type, prompt], ["ray-2", "video", "a lighthouse"]);
    return fields;
  });
}

Deno.test("Dream Machine videos: a text is sent with its shape, length, options and callback URL", async () => {
  const callbackUrl = "https://gateway.example.invalid/news/secret";
  const order = { durationSeconds: 9, resolution: "4K", aspectRatio: "9:21", callbackUrl };
  assertEquals(await sent({ ...order, options: { loop: true, resolution: "540p" } }), {
    loop: true,
    duration: "9s",
    resolution: "4k",
    aspect_ratio: "9:21",
    callback_url: callbackUrl,
  });
});

Deno.test("Dream Machine videos: frames are keyframes with addresses", async () => {
  const [a, b] = [mediaAt("image", "https://example.invalid/a.png"), mediaAt("image", "https://example.invalid/b.png")];
  const { keyframes } = await sent({ mode: "img2video_end", firstFrame: a, lastFrame: b });
  assertEquals(keyframes, { frame0: { type: "image", url: a.value }, frame1: { type: "image", url: b.value } });
});

Deno.test("Dream Machine videos: fields that its requests do not have are named as dropped", () =>
  withAnswers([], ({ outbound }) => {
    const videos = dreamMachineVideos(outbound);
    assertEquals(videos.droppedFields!(videoOrder({ seed: 0, generateAudio: true })), ["seed", "generate_audio"]);
    assertEquals(videos.droppedFields!(videoOrder({ generateAudio: false })), []);
    return Promise.resolve();
  }));

Deno.test({
  name: "Dream Machine videos: a documented response is read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const progress = await withAnswers(
      [recordedAnswer("luma/shape-video-completed")!],
      ({ outbound }) => dreamMachineVideos(outbound).poll(JOB),
    );
    assertEquals(progress, {
      status: "completed",
      results: [{ url: "https://example.invalid/out.mp4", needsCredential: false }],
      extras: [{ type: "thumbnail", url: "https://example.invalid/thumb.jpg" }],
      consumption,
    });
  },
});
