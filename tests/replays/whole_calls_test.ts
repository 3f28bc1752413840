import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { toneFile } from "../../src/sandbox/tones.ts";
import { withEmbeddings } from "../embeddings/embedding_gateway.ts";

const priced = (id: string, pricing: Record<string, string>, fields: Record<string, unknown>) => ({
  id,
  pricing,
  serves: [{ provider: "sandbox-openai" }],
  ...fields,
});
const models = [
  priced("sandbox/speech-1", { character: "0.000015" }, { speech: {} }),
  priced("sandbox/transcription-1", { audio_second: "0.0001" }, { transcription: { translates: true } }),
];
const SPEECH = { model: "sandbox/speech-1", input: "a red fox", voice: "alloy" };

/** A form, which is encoded anew for each request, with another boundary. */
function formOf(words = "one two three", filename = "a.wav"): FormData {
  const form = new FormData();
  form.append("model", "sandbox/transcription-1");
  form.append("file", new Blob([toneFile(words)]), filename);
  return form;
}

Deno.test("embeddings, speech and transcripts are repeated with their key, and charged once", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const sendForm = (path: string, headers: Record<string, string>, form = formOf()) =>
      fetch(`${gateway.address}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, ...headers },
        body: form,
      });
    const requests: Record<string, (headers: Record<string, string>) => Promise<Response>> = {
      embeddings: (headers) =>
        gateway.post("/v1/embeddings", { model: "sandbox/embedding-1", input: "a fox" }, headers),
      speech: (headers) => gateway.post("/v1/audio/speech", SPEECH, headers),
      events: (headers) => gateway.post("/v1/audio/speech", { ...SPEECH, stream_format: "sse" }, headers),
      transcript: (headers) => sendForm("/v1/audio/transcriptions", headers),
      translation: (headers) => sendForm("/v1/audio/translations", headers),
    };
    for (const [key, send] of Object.entries(requests)) {
      const first = await send({ "idempotency-key": key });
      const body = await first.bytes();
      assertEquals(first.status, 200, key);
      const before = [gateway.sandbox.requests.length, await gateway.spent()];
      const second = await send({ "idempotency-key": key });
      assertEquals([second.status, second.headers.get("idempotent-replayed")], [200, "true"], key);
      assertEquals(second.headers.get("content-type"), first.headers.get("content-type"));
      assertEquals(await second.bytes(), body);
      assertEquals([gateway.sandbox.requests.length, await gateway.spent()], before);
    }
    for (const other of [formOf("one two four"), formOf("one two three", "b.wav")]) {
      const refused = await sendForm("/v1/audio/transcriptions", { "idempotency-key": "transcript" }, other);
      assertEquals([refused.status, (await refused.json()).error.code], [422, "invalid_request"]);
    }
  });
});

Deno.test("forms of the openai package are repeated with their key, whose boundary differs", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const types: string[] = [];
    const client = new OpenAI({
      apiKey: gateway.key,
      baseURL: `${gateway.address}/v1`,
      maxRetries: 0,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        types.push(request.headers.get("content-type") ?? "");
        return await fetch(request);
      },
    });
    for (const kind of ["transcriptions", "translations"] as const) {
      const ask = async () =>
        await client.audio[kind].create(
          { model: "sandbox/transcription-1", file: await toFile(toneFile("one two"), "a.wav") },
          { headers: { "Idempotency-Key": kind } },
        ).withResponse();
      const [first, second] = [await ask(), await ask()];
      assertEquals(second.data, first.data);
      assertEquals(second.response.headers.get("idempotent-replayed"), "true");
    }
    assertNotEquals(types[0], types[1]);
    assertEquals(gateway.sandbox.requests.length, 2);
  });
});

Deno.test("audio that broke off is not repeated as if it were whole, and not charged again", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const send = () =>
      gateway.post("/v1/audio/speech", { ...SPEECH, input: "[[cut 2]] a b c d e" }, { "idempotency-key": "broken" });
    const first = await send();
    await assertRejects(() => first.arrayBuffer());
    let second = await send();
    // The end of the first one is noted soon after its caller sees it.
    while ((await second.json()).error.message.includes("still running")) second = await send();
    assertEquals(second.status, 409);
    assertEquals(gateway.sandbox.requests.length, 1);
    assert(await gateway.spent() > 0);
  });
});
