import { assert, assertEquals, assertRejects } from "@std/assert";
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
  priced("sandbox/transcription-1", { audio_second: "0.0001" }, { transcription: {} }),
];
const SPEECH = { model: "sandbox/speech-1", input: "a red fox", voice: "alloy" };

/** A form as bytes, so that it can be sent twice. */
async function formOf() {
  const form = new FormData();
  form.append("model", "sandbox/transcription-1");
  form.append("file", new Blob([toneFile("one two three")]), "a.wav");
  const encoded = new Response(form);
  return { type: encoded.headers.get("content-type") ?? "", bytes: await encoded.bytes() };
}

Deno.test("embeddings, speech and transcripts are repeated with their key, and charged once", async () => {
  const { type, bytes } = await formOf();
  await withEmbeddings({ models }, async (gateway) => {
    const requests: Record<string, (headers: Record<string, string>) => Promise<Response>> = {
      embeddings: (headers) =>
        gateway.post("/v1/embeddings", { model: "sandbox/embedding-1", input: "a fox" }, headers),
      speech: (headers) => gateway.post("/v1/audio/speech", SPEECH, headers),
      events: (headers) => gateway.post("/v1/audio/speech", { ...SPEECH, stream_format: "sse" }, headers),
      transcript: (headers) =>
        fetch(`${gateway.address}/v1/audio/transcriptions`, {
          method: "POST",
          headers: { authorization: `Bearer ${gateway.key}`, "content-type": type, ...headers },
          body: bytes,
        }),
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
