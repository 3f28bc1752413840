import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { toneFile } from "../../src/sandbox/tones.ts";
import { type EmbeddingGateway, withEmbeddings, withStub } from "../embeddings/embedding_gateway.ts";

const scribe = (id: string, provider: string, fields: Record<string, unknown> = {}) => ({
  id,
  pricing: { audio_second: "0.0001" },
  transcription: { translates: true },
  serves: [{ provider }],
  ...fields,
});

const models = [
  scribe("sandbox/transcription-1", "sandbox-openai"),
  scribe("sandbox/tokens-1", "sandbox-openai", {
    pricing: { prompt: "0.000001", audio: "0.000002", completion: "0.000003" },
    transcription: {},
  }),
];

/** Two seconds of sound. */
const AUDIO = toneFile("one two three four five six seven eight nine ten");

interface Part {
  readonly name: string;
  readonly value: string | Blob;
  readonly filename?: string;
}

function formOf(parts: readonly Part[]): FormData {
  const form = new FormData();
  for (const { name, value, filename } of parts) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, filename ?? "a.wav");
  }
  return form;
}

const file = (bytes: Uint8Array<ArrayBuffer> = AUDIO, filename = "a.wav"): Part => ({
  name: "file",
  value: new Blob([bytes]),
  filename,
});
const text = (name: string, value: string): Part => ({ name, value });
const model = text("model", "sandbox/transcription-1");

async function send({ address, key }: EmbeddingGateway, parts: readonly Part[], path = "transcriptions") {
  return await fetch(`${address}/v1/audio/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: formOf(parts),
  });
}

Deno.test("transcripts: the OpenAI client gets every format, charged by the seconds of the audio", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1`, maxRetries: 0 });
    const ask = async (response_format: "json" | "text" | "srt" | "vtt" | "verbose_json") =>
      await client.audio.transcriptions.create({
        file: await toFile(AUDIO, "speech.wav"),
        model: "sandbox/transcription-1",
        prompt: "a red fox",
        language: "en",
        response_format,
        timestamp_granularities: ["segment"],
      }) as unknown;
    assertEquals((await ask("json") as { text: string }).text, "a red fox");
    assertEquals(await ask("text"), "a red fox\n");
    assertEquals(await ask("srt"), "1\n00:00:00,000 --> 00:00:02,000\na red fox\n\n");
    assertEquals(await ask("vtt"), "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\na red fox\n\n");
    const verbose = await ask("verbose_json") as { duration: number; segments: unknown[] };
    assertEquals([verbose.duration, verbose.segments.length], [2, 1]);
    assertEquals(Math.round(await gateway.spent() * 1e4), 10);
    const sent = gateway.sandbox.requests.at(-1)?.body as Record<string, unknown>;
    assertEquals(sent["timestamp_granularities[]"], "segment");
    const translated = await client.audio.translations.create({
      file: await toFile(AUDIO, "speech.wav"),
      model: "sandbox/transcription-1",
    });
    assertEquals(translated.text, `Audio of ${AUDIO.length} bytes.`);
  });
});

Deno.test("transcripts: tokens that the vendor reports are charged at their prices", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const answer = await send(gateway, [text("model", "sandbox/tokens-1"), text("prompt", "a red fox"), file()]);
    const { usage } = await answer.json();
    assertEquals([usage.input_token_details, usage.output_tokens], [{ text_tokens: 3, audio_tokens: 20 }, 3]);
    assertEquals(Number(answer.headers.get("x-service-cost")), (3 + 2 * 20 + 3 * 3) / 1e6);
    // Without a report, tokens are estimated: ten for each second, and one for four characters.
    const silent = await send(gateway, [text("model", "sandbox/tokens-1"), text("prompt", "[[nousage]] abcd"), file()]);
    assertEquals(Number(silent.headers.get("x-service-cost")), (4 + 2 * 20 + 3 * 1) / 1e6);
    await silent.body?.cancel();
  });
});

Deno.test("transcripts: the caller's name of the file never reaches the vendor", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    for (const name of ["../../etc/passwd", 'x".wav', "a.exe", "höhe.wav"]) {
      const answer = await send(gateway, [model, file(AUDIO, name)]);
      assertEquals(answer.status, 200, name);
      await answer.body?.cancel();
      const sent = gateway.sandbox.requests.at(-1)?.body as Record<string, { filename: string }>;
      assertEquals(sent.file?.filename, "audio.wav");
    }
  });
});

Deno.test("transcripts: bad forms are refused with the field, and nothing is sent", async () => {
  await withEmbeddings({ models, config: { limits: { audio_body: 100_000 } } }, async (gateway) => {
    const cases: readonly [parts: readonly Part[], field: string, status?: number][] = [
      [[file()], "model"],
      [[text("model", "sandbox/chat-1"), file()], "model"],
      [[text("model", "sandbox/nothing-1"), file()], "model", 404],
      [[model], "file"],
      [[model, text("file", "sound")], "file"],
      [[model, file(), file()], "file"],
      [[model, text("model", "sandbox/tokens-1"), file()], "model"],
      [[model, file(new Uint8Array(0))], "file"],
      [[model, file(new TextEncoder().encode("MZ an executable, and no sound"))], "file"],
      [[model, text("response_format", "pdf"), file()], "response_format"],
      [[model, text("temperature", "2"), file()], "temperature"],
      [[model, text("stream", "true"), file()], "stream"],
      [[model, ...new Array(21).fill(text("include[]", "logprobs")), file()], "include[]"],
    ];
    for (const [parts, field, status = 400] of cases) {
      const answer = await send(gateway, parts);
      const { error } = await answer.json();
      assertEquals([answer.status, error.param], [status, field], parts.map(({ name }) => name).join());
    }
    const narrow = await send(gateway, [text("model", "sandbox/tokens-1"), file()], "translations");
    assertStringIncludes((await narrow.json()).error.message, "does not translate");
    const long = await send(gateway, [model, file(new Uint8Array(100_001))]);
    assertEquals(long.status, 413);
    await long.body?.cancel();
    const json = await gateway.post("/v1/audio/transcriptions", {});
    assertEquals(json.status, 415);
    await json.body?.cancel();
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("transcripts: a broken reply costs nothing, and impossible usage is capped", async () => {
  let reply = "";
  await withStub(() => reply, async (gateway) => {
    const ask = (format = "json") =>
      send(gateway, [text("model", "stub/transcription-1"), text("response_format", format), file()]);
    for (const [broken, format] of [["", "json"], ["{}", "json"], ['{"text":1}', "json"], ['{"text":"a"}', "srt"]]) {
      reply = broken ?? "";
      const answer = await ask(format);
      assertEquals([answer.status, (await answer.json()).error.type], [502, "upstream_error"], `${format} ${broken}`);
    }
    assertEquals(await gateway.spent(), 0);
    const cases: readonly [usage: string, seconds: number][] = [
      ['"duration":2', 2],
      ['"duration":1e9', 3],
      ['"duration":-1', 2],
      ['"usage":{"type":"duration","seconds":3}', 3],
      ['"usage":{"seconds":"many"}', 2],
      ['"usage":{"type":"duration","seconds":0}', 2],
      ['"duration":0', 2],
      ['"x":1', 2],
    ];
    for (const [usage, seconds] of cases) {
      reply = `{"text":"a",${usage}}`;
      const answer = await ask();
      assertEquals(Number(answer.headers.get("x-service-cost")), seconds / 1e4, usage);
      await answer.body?.cancel();
    }
    reply = '{"text":"a"}';
    assertEquals(await (await ask("text")).text(), "a");
    assert(gateway.logLines.some((line) => line.includes("usage_implausible")));
  }, { models: [scribe("stub/transcription-1", "stub")] });
});

Deno.test("transcripts: the catalog shows the model by what it does, and not as a model for text", async () => {
  await withEmbeddings({ models }, async ({ address, key }) => {
    const answer = await fetch(`${address}/v1/models/sandbox/transcription-1`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { architecture, transcription, pricing } = await answer.json();
    assertEquals(architecture.modality, "audio->transcription");
    assertEquals([transcription, pricing], [{ translates: true }, { audio_second: "0.0001" }]);
  });
});

Deno.test("transcripts: an account without money is refused before any vendor call", async () => {
  await withEmbeddings({ models, balance: "0.0001" }, async (gateway) => {
    const answer = await send(gateway, [model, file()]);
    assertEquals([answer.status, (await answer.json()).error.type], [402, "insufficient_credits"]);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});
