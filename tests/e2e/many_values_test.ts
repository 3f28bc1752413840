import { assert, assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { answer, startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import { StepMeasure } from "../support/step_measure.ts";
import { CHAT, CONTENT, MESSAGES } from "./caller_protocols.ts";

/** 3 MB that need a hundred times as much memory once they are parsed. A vendor can send far more. */
const VALUES = `[${"{},".repeat(1_000_000)}1]`;
/** What a thread parses in one step. */
const MAX_STEP = 1_000_000;

const JSON_TYPE = { "content-type": "application/json" };
const serves = [{ provider: "stub" }];
const MODELS = [
  textModel("stub/chat-1", ["stub"]),
  textModel("stub/content-1", ["stub-google"]),
  {
    id: "stub/image-1",
    image: { series: "default" },
    pricing: { prompt: "0.000005", completion: "0.00004" },
    architecture: { input_modalities: ["text"], output_modalities: ["image"] },
    serves,
  },
  { id: "stub/rerank-1", rerank: {}, pricing: { search_unit: "0.001" }, serves },
  { id: "stub/moderation-1", moderation: {}, pricing: { prompt: "0.000001" }, serves },
  { id: "stub/embedding-1", embedding: {}, context_length: 8_192, pricing: { prompt: "0.000001" }, serves },
  { id: "stub/transcription-1", transcription: {}, pricing: { audio_second: "0.0001" }, serves },
];

/** A request, and what the vendor answers. */
interface Case {
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body: Record<string, unknown> | FormData;
  readonly reply: string;
  /** Default: 502. */
  readonly status?: number;
}

const image = { model: "stub/image-1", prompt: "a", quality: "low", size: "1024x1024" };
const stream = (events: string) => STREAM_HEAD + events;
const chat = { path: CHAT.path("stub/chat-1"), body: CHAT.body("stub/chat-1", "a", true), status: 200 };

const CASES: Readonly<Record<string, Case>> = {
  "image": { path: "/v1/images/generations", body: image, reply: answer(200, VALUES) },
  "streamed image": {
    path: "/v1/images/generations",
    body: { ...image, stream: true },
    reply: stream(`data: ${VALUES}\n\n`),
  },
  "rank": {
    path: "/v1/rerank",
    body: { model: "stub/rerank-1", query: "a", documents: ["b"] },
    reply: answer(200, VALUES),
  },
  "moderation": {
    path: "/v1/moderations",
    body: { model: "stub/moderation-1", input: "a" },
    reply: answer(200, VALUES),
  },
  "embedding with a usage": {
    path: "/v1/embeddings",
    body: { model: "stub/embedding-1", input: "a" },
    reply: answer(200, `{"data":[{"index":0,"embedding":[1,2]}],"usage":${VALUES.slice(0, 2_500_001)}1]}`),
  },
  "transcript": {
    path: "/v1/audio/transcriptions",
    body: transcription(),
    reply: answer(200, `{"text":"a","words":${VALUES}}`),
  },
  "event without an empty line": { ...chat, reply: stream(`data: ${VALUES}\n`) },
  "event and another one on the next line": {
    ...chat,
    reply: stream(`data: ${VALUES.slice(0, -1)},{"error":{}}]\ndata: {}\n\n`),
  },
  "event that is translated": {
    path: MESSAGES.path("stub/chat-1"),
    headers: { "msg-version": "2023-06-01" },
    body: MESSAGES.body("stub/chat-1", "a", true),
    reply: stream(`data: ${VALUES}\n\n`),
    status: 200,
  },
  "event that becomes an element of a list": {
    path: CONTENT.path("stub/content-1", true).replace("?alt=sse", ""),
    body: CONTENT.body("stub/content-1", "a", true),
    reply: stream(`data: ${VALUES}\n\n`),
    status: 200,
  },
};

function transcription(): FormData {
  const form = new FormData();
  form.set("model", "stub/transcription-1");
  form.set("response_format", "verbose_json");
  form.set("file", new File([wave()], "a.wav", { type: "audio/wav" }));
  return form;
}

/** A tenth of a second of silence. */
function wave(): Uint8Array<ArrayBuffer> {
  const samples = 1_600;
  const view = new DataView(new ArrayBuffer(44 + samples));
  const text = (at: number, letters: string) =>
    [...letters].forEach((each, nth) => view.setUint8(at + nth, each.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, 36 + samples, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 16_000, true);
  view.setUint32(28, 16_000, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  text(36, "data");
  view.setUint32(40, samples, true);
  return new Uint8Array(view.buffer);
}

for (const [name, { path, headers = {}, body, reply, status = 502 }] of Object.entries(CASES)) {
  Deno.test(`a vendor's reply with a million values is not parsed: ${name}`, async () => {
    const vendor = startScriptedUpstream(async (side) => {
      if (await side.request() !== null) await side.say(reply);
    });
    const gateway = await startTestGateway({
      config: {
        providers: {
          "stub": { kind: "openai", base_url: vendor.baseUrl, api_key: "stub-key", quirks: [] },
          "stub-google": { kind: "google", base_url: vendor.baseUrl, api_key: "stub-key" },
        },
        models: MODELS,
      },
    });
    using measure = new StepMeasure();
    const response = await fetch(gateway.address + path, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, ...headers, ...!(body instanceof FormData) && JSON_TYPE },
      body: body instanceof FormData ? body : JSON.stringify(body),
    });
    const text = await response.text();
    assertEquals(response.status, status, text.slice(0, 500));
    assert(measure.maxLength < MAX_STEP, `${measure.maxLength} characters were parsed`);
    await gateway.stop();
    await vendor.stop();
  });
}
