import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import OpenAI from "openai";
import { toneFile } from "../../src/sandbox/tones.ts";
import { withEmbeddings, withStub } from "../embeddings/embedding_gateway.ts";

const speaker = (id: string, provider: string, speech = {}) => ({
  id,
  pricing: { character: "0.000015" },
  speech,
  serves: [{ provider }],
});

const models = [
  speaker("sandbox/speech-1", "sandbox-openai"),
  speaker("sandbox/narrow-1", "sandbox-openai", { voices: ["alto"], formats: ["wav"], max_characters: 10 }),
];
const REQUEST = { model: "sandbox/speech-1", input: "a red fox", voice: "alloy" };

Deno.test("speech: the OpenAI client gets the audio of a text, which is charged by its characters", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1`, maxRetries: 0 });
    const made = await client.audio.speech.create({ ...REQUEST, response_format: "wav", speed: 1.5 });
    assertEquals(made.headers.get("content-type"), "audio/wav");
    assertEquals(made.headers.get("x-service-cost"), "0.0001350000");
    assertEquals(new Uint8Array(await made.arrayBuffer()), toneFile("a red fox"));
    assertEquals(gateway.sandbox.requests.at(-1)?.body, {
      model: "speech-1",
      input: "a red fox",
      voice: "alloy",
      response_format: "wav",
      speed: 1.5,
    });
    const plain = await client.audio.speech.create(REQUEST);
    assertEquals(plain.headers.get("content-type"), "audio/mpeg");
    await plain.arrayBuffer();
    // A character outside the basic plane is one.
    const wide = await gateway.post("/v1/audio/speech", { ...REQUEST, input: "🦊" });
    assertEquals(wide.headers.get("x-service-cost"), "0.0000150000");
    await wide.body?.cancel();
    assertEquals(Math.round(await gateway.spent() * 1e6), 285);
  });
});

Deno.test("speech: events are forwarded", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const answer = await gateway.post("/v1/audio/speech", { ...REQUEST, stream_format: "sse" });
    assertEquals(answer.headers.get("content-type"), "text/event-stream");
    assertStringIncludes(await answer.text(), 'data: {"type":"speech.audio.done"}');
  });
});

Deno.test("speech: bad requests are refused with the field, and nothing is sent", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const cases: readonly [change: Record<string, unknown>, field: string][] = [
      [{ model: undefined }, "model"],
      [{ model: "sandbox/chat-1" }, "model"],
      [{ input: "" }, "input"],
      [{ input: ["a"] }, "input"],
      [{ input: "x".repeat(4097) }, "input"],
      [{ voice: undefined }, "voice"],
      [{ voice: "" }, "voice"],
      [{ voice: { id: 7 } }, "voice"],
      [{ response_format: "exe" }, "response_format"],
      [{ speed: 0 }, "speed"],
      [{ speed: "1" }, "speed"],
      [{ instructions: 1 }, "instructions"],
      [{ stream_format: "events" }, "stream_format"],
      [{ model: "sandbox/narrow-1", voice: "alloy" }, "voice"],
      [{ model: "sandbox/narrow-1", voice: "alto", response_format: "mp3" }, "response_format"],
      [{ model: "sandbox/narrow-1", voice: "alto", input: "x".repeat(11) }, "input"],
    ];
    for (const [change, field] of cases) {
      const answer = await gateway.post("/v1/audio/speech", { ...REQUEST, ...change });
      const { error } = await answer.json();
      assertEquals([answer.status, error.param], [400, field], JSON.stringify(change).slice(0, 80));
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("speech: a reply that is no audio, or empty, is an error without a charge", async () => {
  for (const reply of ["", "{}"]) {
    await withStub(() => reply, async (gateway) => {
      const answer = await gateway.post("/v1/audio/speech", { ...REQUEST, model: "stub/speech-1" });
      assertEquals([answer.status, (await answer.json()).error.type], [502, "upstream_error"]);
      assertEquals(await gateway.spent(), 0);
    }, { models: [speaker("stub/speech-1", "stub")] });
  }
});

Deno.test("speech: a stream that the vendor breaks off breaks off for the caller, and is charged", async () => {
  await withEmbeddings({ models }, async (gateway) => {
    const answer = await gateway.post("/v1/audio/speech", { ...REQUEST, input: "[[cut 2]] a b c d e" });
    assertEquals(answer.status, 200);
    await assertRejects(() => answer.arrayBuffer());
    assert(await gateway.spent() > 0);
  });
});

Deno.test("speech: an account without enough money is refused before any vendor call", async () => {
  await withEmbeddings({ models, balance: "0.0001" }, async (gateway) => {
    const answer = await gateway.post("/v1/audio/speech", REQUEST);
    assertEquals([answer.status, (await answer.json()).error.type], [402, "insufficient_credits"]);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});
