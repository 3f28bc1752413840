import { assert, assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { googleVideos } from "../../../src/vendors/upstreams/google/videos.ts";
import type { OpenedResult, VideoMedia, VideoOrder } from "../../../src/vendors/upstreams/contract/video_upstream.ts";
import { videoUpstreamContract } from "../../contract/video_upstream.ts";
import { itemAt } from "../../support/items.ts";
import { RECORDINGS } from "../../support/recordings.ts";
import { ok, recordedAnswer, type VendorAnswer, videoOrder, withAnswers } from "../../support/vendor_stage.ts";

const JOB = { id: "v1_abc", place: null };
const URI = "https://generativelanguage.googleapis.com/v1beta/files/abc:download?alt=media";

const interaction = (status: string, more: object = {}) => ok({ id: "v1_abc", object: "interaction", status, ...more });
const output = (...content: object[]) => ({ steps: [{ type: "user_input" }, { type: "model_output", content }] });
const error = (code: number, message: string, status = "INVALID_ARGUMENT") => ({ error: { code, message, status } });
const completed = (url: string | null) => ({
  status: "completed" as const,
  results: [{ url, needsCredential: true }],
  consumption: { seconds: null, costUsd: null },
});
const failedAs = (code: "content_policy_violation" | "upstream_error", message: string) => ({
  status: "failed" as const,
  code,
  message,
});

videoUpstreamContract("Gemini Omni", {
  open: googleVideos,
  basePath: "",
  order: videoOrder(),
  created: { answer: interaction("queued"), handle: JOB },
  longId: { answer: ok('{"id":"90071992547409931"}'), id: "90071992547409931" },
  job: JOB,
  progress: [
    { answers: [interaction("queued")], means: { status: "pending", isRunning: false } },
    { answers: [interaction("in_progress")], means: { status: "pending", isRunning: true } },
    {
      answers: [interaction("completed", output({ type: "text", text: "Here" }, { type: "video", uri: URI }))],
      means: completed(URI),
    },
    { answers: [interaction("completed", output({ type: "video", data: "AAAA" }))], means: completed(null) },
    {
      answers: [interaction("completed", output({ type: "text", text: "I can't make that video." }))],
      means: failedAs("content_policy_violation", "I can't make that video."),
    },
    {
      answers: [interaction("failed", { error: { code: "internal", message: "Boom" } })],
      means: failedAs("upstream_error", "Boom"),
    },
    {
      answers: [interaction("failed", { error: { code: "PROHIBITED_CONTENT", message: "Blocked" } })],
      means: failedAs("content_policy_violation", "Blocked"),
    },
    {
      answers: [interaction("budget_exceeded")],
      means: failedAs("upstream_error", "The interaction ended with the status budget_exceeded"),
    },
    { answers: [interaction("cancelled")], means: { status: "cancelled" } },
  ],
  unknownStatus: { answers: [interaction("pondering")], status: "pondering" },
  emptySuccesses: [
    [interaction("completed")],
    [interaction("completed", { steps: null })],
    [interaction("completed", output({ type: "video", uri: "" }))],
  ],
  contentRefusals: [
    { status: 400, body: error(400, "The prompt was blocked", "PROHIBITED_CONTENT") },
    { status: 400, body: [error(400, "Blocked: SAFETY")] },
  ],
  refusal: (message) => error(400, message),
  cancels: [
    { answers: [interaction("cancelled")], outcome: "requested" },
    { answers: [{ status: 400, body: error(400, "The interaction has ended") }], outcome: "gone" },
    { answers: [{ status: 404, body: error(404, "Not found") }], outcome: "gone" },
  ],
});

async function sent(order: Partial<VideoOrder>) {
  return await withAnswers([interaction("queued")], async ({ outbound, vendor }) => {
    await googleVideos(outbound).create(videoOrder(order));
    const { path, body } = itemAt(vendor.seen, 0);
    assertEquals(path, "/v1beta/interactions");
    return JSON.parse(body);
  });
}

function picture(value: string): VideoMedia {
  return { medium: "image", mediaType: "image/png", form: "base64", value };
}

Deno.test("Gemini Omni videos: a text prompt is sent as a background interaction, with the length as text with a unit", async () => {
  assertEquals(await sent({ aspectRatio: "9:16", seed: 7, callbackUrl: "https://gateway.example/news" }), {
    model: "a-model",
    input: [{ type: "text", text: "a lighthouse" }],
    background: true,
    response_format: { type: "video", delivery: "uri", aspect_ratio: "9:16", resolution: "720p", duration: "5s" },
    generation_config: { seed: 7, video_config: { task: "text_to_video" } },
    webhook_config: { uris: ["https://gateway.example/news"] },
  });
});

Deno.test("Gemini Omni videos: frames are sent in chronological order, with type and bytes", async () => {
  const { input, generation_config } = await sent({
    mode: "img2video_end",
    firstFrame: picture("AAAA"),
    lastFrame: picture("BBBB"),
    durationSeconds: null,
    options: { generation_config: { temperature: 0.5 }, system_instruction: "slowly" },
  });
  assertEquals(input.slice(0, 2), [
    { type: "image", mime_type: "image/png", data: "AAAA" },
    { type: "image", mime_type: "image/png", data: "BBBB" },
  ]);
  assertEquals(generation_config, { temperature: 0.5, video_config: { task: "image_to_video" } });
});

Deno.test("Gemini Omni videos: a length that the vendor decides is not sent, and a video without audio is named as dropped", async () => {
  assertEquals("duration" in (await sent({ durationSeconds: -1 })).response_format, false);
  await withAnswers([], ({ outbound }) => {
    const { droppedFields: dropped } = googleVideos(outbound);
    assertEquals(dropped!(videoOrder({ generateAudio: false })), ["generate_audio"]);
    assertEquals(dropped!(videoOrder({ generateAudio: true, seed: 1 })), []);
    return Promise.resolve();
  });
});

async function opened(answers: readonly VendorAnswer[], url: (host: string) => string | null) {
  return await withAnswers(answers, async ({ outbound, vendor }) => {
    const host = `http://127.0.0.1:${vendor.port}`;
    const result = await googleVideos(outbound).open!({ url: url(host), needsCredential: true }, JOB);
    return { host, result, text: await textOf(result), seen: vendor.seen.map(({ path }) => path) };
  });
}

async function textOf(result: OpenedResult): Promise<string> {
  if (!("bytes" in result)) return "";
  let text = "";
  for await (const bytes of result.bytes) text += new TextDecoder().decode(bytes);
  return text;
}

Deno.test("Gemini Omni videos: a file is opened with the key on the provider's own host only", async () => {
  const path = "/v1beta/files/abc:download?alt=media";
  const file = { status: 200, body: "a video", headers: { "content-type": "video/mp4" } };
  const { text, seen } = await opened([file], (host) => host + path);
  assertEquals([text, seen], ["a video", [path]]);
  await assertRejects(
    () => opened([], () => "https://elsewhere.example/files/abc"),
    UpstreamFailure,
    "not on the provider's host",
  );
});

Deno.test("Gemini Omni videos: the target of a redirect is returned, and receives no key", async () => {
  const location = "https://store.example/abc?signature=1";
  const moved = await opened([{ status: 302, body: "", headers: { location } }], (host) => `${host}/v1beta/files/abc`);
  assertEquals(moved.result, { movedTo: location });
  const near = await opened(
    [{ status: 302, body: "", headers: { location: "/there" } }],
    (host) => `${host}/v1beta/files/abc`,
  );
  assertEquals(near.result, { movedTo: `${near.host}/there` });
});

Deno.test("Gemini Omni videos: inline bytes are requested again, even long ones", async () => {
  const video = "frame ".repeat(300_000);
  const answer = interaction("completed", output({ type: "video", data: btoa(video) }));
  const { text, seen } = await opened([answer], () => null);
  assert(text === video);
  assertEquals(seen, ["/v1beta/interactions/v1_abc"]);
});

Deno.test({
  name: "Gemini Omni videos: documented responses are read as documented (skipped where the recordings are absent)",
  ignore: RECORDINGS === null,
  async fn() {
    const progress = (name: string) =>
      withAnswers([recordedAnswer(`google-gemini/${name}`)!], ({ outbound }) => googleVideos(outbound).poll(JOB));
    assertEquals(await progress("shape-omni-completed-uri"), completed(URI));
    assertEquals(
      await progress("shape-omni-refused"),
      failedAs("content_policy_violation", "I can't make that video."),
    );
  },
});
