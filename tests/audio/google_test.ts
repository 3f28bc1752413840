import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { waveHeader } from "../../src/platform/lib/collections/wave.ts";
import { toneFile, toneSamples } from "../../src/sandbox/tones.ts";
import { type EmbeddingGateway, withEmbeddings } from "../embeddings/embedding_gateway.ts";

const PRICES = { prompt: "0.000001", audio: "0.000002", completion: "0.000003", audio_output: "0.00001" };

const models = [
  {
    id: "sandbox/voice-1",
    pricing: { prompt: PRICES.prompt, audio_output: PRICES.audio_output },
    speech: {},
    serves: [{ provider: "sandbox-google" }],
  },
  {
    id: "sandbox/voice-2",
    pricing: { prompt: PRICES.prompt, audio_output: PRICES.audio_output },
    speech: {},
    serves: [{ provider: "sandbox-openai" }],
  },
  {
    id: "sandbox/voice-3",
    pricing: { character: "0.00001" },
    speech: {},
    serves: [{ provider: "sandbox-google" }, { provider: "sandbox-openai", weight: 0 }],
  },
  {
    id: "sandbox/scribe-1",
    pricing: { prompt: PRICES.prompt, audio: PRICES.audio, completion: PRICES.completion },
    transcription: { translates: true },
    serves: [{ provider: "sandbox-google" }],
  },
];
const REQUEST = { model: "sandbox/voice-1", input: "a red fox", voice: "Kore" };
const SAMPLES = toneSamples("a red fox");

const clientOf = ({ key, address }: EmbeddingGateway) =>
  new OpenAI({ apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 });

Deno.test("Google speech: the OpenAI client gets a WAV file or samples, charged by tokens", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const client = clientOf(gateway);
    const plain = await client.audio.speech.create({ ...REQUEST, instructions: "calm and slow", speed: 1.5 });
    assertEquals(plain.headers.get("content-type"), "audio/wav");
    assertEquals(plain.headers.get("x-service-dropped"), "speed");
    // Six words, and 0.6 seconds with 25 tokens each.
    assertEquals(Number(plain.headers.get("x-service-cost")), (6 * 1 + 15 * 10) / 1e6);
    const file = new Uint8Array(await plain.arrayBuffer());
    assertEquals(file.slice(0, 44), waveHeader({ rate: 24_000, channels: 1, bitsPerSample: 16 }, SAMPLES.length));
    assertEquals(file.slice(44), SAMPLES);
    const pcm = await client.audio.speech.create({ ...REQUEST, response_format: "pcm" });
    assertEquals(pcm.headers.get("content-type"), "audio/pcm");
    assertEquals(new Uint8Array(await pcm.arrayBuffer()), SAMPLES);
    const sent = gateway.sandbox.requests.at(-1)?.body as { contents: unknown };
    assertEquals(sent.contents, [{ role: "user", parts: [{ text: "a red fox" }] }]);
  });
});

Deno.test("Google speech: other formats and events are refused with the field, and nothing is sent", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const cases = [["response_format", "mp3"], ["response_format", "flac"], ["stream_format", "sse"]] as const;
    for (const [field, value] of cases) {
      const answer = await gateway.post("/v1/audio/speech", { ...REQUEST, [field]: value });
      const { error } = await answer.json();
      assertEquals([answer.status, error.param], [400, field]);
      assertStringIncludes(error.message, "this model's vendor");
    }
    assertEquals(gateway.sandbox.requests.length, 0);
    // A vendor of the same model that has the format serves the request.
    const other = await gateway.post("/v1/audio/speech", {
      ...REQUEST,
      model: "sandbox/voice-3",
      response_format: "mp3",
    });
    assertEquals([other.status, other.headers.get("content-type")], [200, "audio/mpeg"]);
    await other.body?.cancel();
  });
});

Deno.test("Google speech: without a report, the length of the audio or of the text counts", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const silent = await gateway.post("/v1/audio/speech", { ...REQUEST, input: "[[nousage]] a b c d e" });
    // 21 characters are six tokens, and five words take a second.
    assertEquals(Number(silent.headers.get("x-service-cost")), (6 * 1 + 25 * 10) / 1e6);
    await silent.body?.cancel();
    const other = await gateway.post("/v1/audio/speech", { ...REQUEST, model: "sandbox/voice-2" });
    // Nine characters are three tokens, and two tokens of audio each.
    assertEquals(Number(other.headers.get("x-service-cost")), (3 * 1 + 18 * 10) / 1e6);
    await other.body?.cancel();
    const byCharacters = await gateway.post("/v1/audio/speech", { ...REQUEST, model: "sandbox/voice-3" });
    assertEquals(Number(byCharacters.headers.get("x-service-cost")), 9 * 10 / 1e6);
    await byCharacters.body?.cancel();
  });
});

Deno.test("Google speech: a refusal and a failure cost nothing, and a dry run names the tokens", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    for (const [input, status] of [["[[refuse]] a", 400], ["[[fail 503]] a", 502]] as const) {
      const answer = await gateway.post("/v1/audio/speech", { ...REQUEST, input });
      assertEquals(answer.status, status, await answer.text());
    }
    assertEquals(await gateway.spent(), 0);
    const trial = await gateway.post("/v1/audio/speech", REQUEST, { "x-service-dry-run": "true" });
    const { estimate } = await trial.json();
    assertEquals(estimate.characters, 9);
    assert(estimate.prompt_tokens > 0 && estimate.audio_output_tokens > 0, JSON.stringify(estimate));
  });
});

Deno.test("Google transcripts: the OpenAI client gets the text, charged by tokens", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const client = clientOf(gateway);
    const file = await toFile(toneFile("one two three four five"), "speech.wav");
    const words = { file, model: "sandbox/scribe-1", prompt: "[[say a red fox]]" };
    const made = await client.audio.transcriptions.create({ ...words, include: ["logprobs"] }).withResponse();
    assertEquals(made.data.text, "a red fox");
    assertEquals(made.response.headers.get("x-service-dropped"), "include[]");
    assert(Number(made.response.headers.get("x-service-cost")) > 0);
    const { usage } = made.data as unknown as { usage: { output_tokens: number; total_tokens: number } };
    assertEquals(usage.output_tokens, 3);
    const sent = gateway.sandbox.requests.at(-1);
    assertEquals(sent?.path, "/google/v1beta/models/scribe-1:generateContent");
    const text: unknown = await client.audio.transcriptions.create({ ...words, response_format: "text" });
    assertEquals(text, "a red fox");
    assertEquals((await client.audio.translations.create(words)).text, "a red fox");
    assertStringIncludes(JSON.stringify(gateway.sandbox.requests.at(-1)?.body), "into English");
  });
});

Deno.test("Google transcripts: formats with times are refused with the field, and nothing is sent", async () => {
  await withEmbeddings({ models }, async ({ address, key, sandbox }) => {
    for (const format of ["srt", "vtt", "verbose_json", "diarized_json"]) {
      const form = new FormData();
      form.append("model", "sandbox/scribe-1");
      form.append("response_format", format);
      form.append("file", new Blob([toneFile("a")]), "a.wav");
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`${address}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
      assertEquals([answer.status, (await answer.json()).error.param], [400, "response_format"]);
    }
    assertEquals(sandbox.requests.length, 0);
  });
});
