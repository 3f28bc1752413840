import { assertEquals, assertStringIncludes } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { toneFile, toneSamples } from "../../../src/sandbox/tones.ts";
import { vectorOf } from "../../../src/sandbox/vectors.ts";
import { embeddingModel } from "../../embeddings/embedding_gateway.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { startVertexServer, type VertexServer } from "./vertex_server.ts";

const PROJECT = "/projects/acme/locations/europe-west4/publishers/google/models";
const models = [
  embeddingModel("vertex/text-embedding-005", ["vertex"]),
  {
    id: "vertex/gemini-3.8-flash-tts",
    pricing: { prompt: "0.000001", audio_output: "0.00001" },
    speech: {},
    serves: [{ provider: "vertex" }],
  },
  {
    id: "vertex/gemini-2.5-pro",
    pricing: { prompt: "0.000001", completion: "0.00001" },
    transcription: { translates: true },
    serves: [{ provider: "vertex" }],
  },
];

async function withVertex(test: (client: OpenAI, vertex: VertexServer) => Promise<void>): Promise<void> {
  let gateway: TestGateway | null = null;
  const vertex = await startVertexServer(() => gateway!.sandbox);
  const { address: base_url, keyFile: service_account } = vertex;
  gateway = await startTestGateway({
    config: {
      providers: { vertex: { kind: "vertex", project: "acme", location: "europe-west4", base_url, service_account } },
      models,
    },
  });
  try {
    await test(new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.address}/v1`, maxRetries: 0 }), vertex);
  } finally {
    await gateway.stop();
    await vertex.stop();
  }
}

Deno.test("vertex: the OpenAI client gets embeddings, charged by the tokens of all texts", async () => {
  await withVertex(async (client, { seen }) => {
    const input = ["a red fox", "a dog"];
    const made = await client.embeddings.create({ model: "vertex/text-embedding-005", input, dimensions: 8 })
      .withResponse();
    assertEquals(made.data.data.map(({ embedding }) => embedding), input.map((text) => vectorOf(text, 8)));
    assertEquals(Number(made.response.headers.get("x-service-cost")), 5 / 1e6);
    assertEquals(seen[0]?.path, `/v1beta1${PROJECT}/text-embedding-005:predict`);
  });
});

Deno.test("vertex: the OpenAI client gets speech and transcriptions of Google's models", async () => {
  await withVertex(async (client, { seen }) => {
    const speech = await client.audio.speech.create({
      model: "vertex/gemini-3.8-flash-tts",
      input: "a red fox",
      voice: "Kore",
      response_format: "pcm",
    });
    assertEquals(new Uint8Array(await speech.arrayBuffer()), toneSamples("a red fox"));
    const file = await toFile(toneFile("a red fox"), "speech.wav");
    const { text } = await client.audio.transcriptions.create({
      model: "vertex/gemini-2.5-pro",
      file,
      prompt: "[[say a red fox]]",
    });
    assertEquals(text, "a red fox");
    assertStringIncludes(seen.at(-1)?.path ?? "", `${PROJECT}/gemini-2.5-pro:generateContent`);
  });
});
