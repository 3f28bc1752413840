import { assertEquals } from "@std/assert";
import OpenAI, { AzureOpenAI, toFile } from "openai";
import { toneFile } from "../../src/sandbox/tones.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { embeddingModel } from "../embeddings/embedding_gateway.ts";
import { imageFile, imageModel } from "../images/image_gateway.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { CALLER_PROTOCOLS, CHAT, sendAs } from "./caller_protocols.ts";

const API_VERSION = "2025-04-01-preview";
const KEY = "key-of-the-resource";
/** What a deployment is named, by the model in the gateway. Names may need escaping. */
const DEPLOYMENT = "gpt mini/eu";

const at = (provider: string) => [{ provider, model: DEPLOYMENT }];
const priced = (id: string, pricing: Record<string, string>, fields: Record<string, unknown>) => ({
  id,
  pricing,
  serves: at("azure"),
  ...fields,
});

const models = [
  { ...textModel("azure/chat", []), serves: at("azure") },
  { ...textModel("azure/responses", []), serves: at("azure-responses") },
  { ...textModel("azure/gone", []), serves: [{ provider: "azure", model: "missing" }] },
  embeddingModel("azure/embedding", [], { serves: at("azure") }),
  imageModel("azure/image", { edits: true }, [], { serves: at("azure") }),
  priced("azure/speech", { character: "0.000015" }, { speech: {} }),
  priced("azure/transcription", { audio_second: "0.0001" }, { transcription: { translates: true } }),
];

async function withAzure(
  run: (gateway: TestGateway, azure: Sandbox) => Promise<void>,
  key = KEY,
): Promise<void> {
  const azure = await startSandbox({ port: 0 });
  const provider = { kind: "azure", base_url: azure.baseUrls.azure, api_key: key, api_version: API_VERSION };
  const gateway = await startTestGateway({
    config: { models, providers: { azure: provider, "azure-responses": { ...provider, speaks: "responses" } } },
  });
  try {
    await run(gateway, azure);
  } finally {
    await gateway.stop();
    await azure.stop();
  }
}

/** Sends a request of every kind, with OpenAI's client or its client for Azure. */
async function sendAll(client: OpenAI, modelOf: (kind: string) => string): Promise<void> {
  const file = () => toFile(toneFile("one two"), "a.wav");
  const image = await toFile(await imageFile(), "a.png");
  const messages = [{ role: "user" as const, content: "hi" }];
  await client.chat.completions.create({ model: modelOf("chat"), messages });
  for await (const _ of await client.chat.completions.create({ model: modelOf("chat"), messages, stream: true }));
  await client.responses.create({ model: modelOf("responses"), input: "hi" });
  await client.embeddings.create({ model: modelOf("embedding"), input: "hi" });
  await client.images.generate({ model: modelOf("image"), prompt: "a fox", quality: "low" });
  await client.images.edit({ model: modelOf("image"), prompt: "a hat", quality: "low", image });
  await (await client.audio.speech.create({ model: modelOf("speech"), input: "hi", voice: "alloy" })).arrayBuffer();
  await client.audio.transcriptions.create({ model: modelOf("transcription"), file: await file() });
  await client.audio.translations.create({ model: modelOf("transcription"), file: await file() });
}

Deno.test("the dated API of azure is called at the addresses that OpenAI's client for Azure uses", async () => {
  await withAzure(async ({ address, key }, azure) => {
    await sendAll(new OpenAI({ apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 }), (kind) => `azure/${kind}`);
    const ours = azure.requests.map(({ method, path }) => `${method} ${path}`);
    assertEquals(azure.requests.map(({ headers }) => headers["api-key"]), ours.map(() => KEY));
    assertEquals(azure.requests.some(({ headers }) => "authorization" in headers), false);
    const official = new AzureOpenAI({ endpoint: azure.baseUrls.azure, apiKey: KEY, apiVersion: API_VERSION });
    await sendAll(official, () => DEPLOYMENT);
    const theirs = azure.requests.slice(ours.length).map(({ method, path }) => `${method} ${path}`);
    assertEquals(ours, theirs);
    assertEquals(
      ours[0],
      `POST /azure/openai/deployments/gpt%20mini%2Feu/chat/completions?api-version=${API_VERSION}`,
    );
  });
});

Deno.test("callers of every protocol reach a deployment of the dated API, whole and streamed", async () => {
  await withAzure(async (gateway) => {
    for (const face of CALLER_PROTOCOLS) {
      for (const model of ["azure/chat", "azure/responses"]) {
        const whole = await sendAs(face, gateway, { model, text: "hi" });
        assertEquals([whole.status, face.textIn(whole.json)], [200, "You said: hi"], face.name);
        const streamed = await sendAs(face, gateway, { model, text: "hi", stream: true });
        assertEquals([streamed.status, /said/.test(streamed.text)], [200, true], face.name);
      }
    }
  });
});

Deno.test("a deployment that does not exist, and a rejected key, are the vendor's errors", async () => {
  await withAzure(async (gateway) => {
    const gone = await sendAs(CHAT, gateway, { model: "azure/gone", text: "hi" });
    assertEquals([gone.status, gone.json.error.message.includes("deployment")], [404, true], gone.text);
  });
  await withAzure(async (gateway, azure) => {
    const refused = await sendAs(CHAT, gateway, { model: "azure/chat", text: "hi" });
    assertEquals(refused.status, 401, refused.text);
    assertEquals(itemAt(azure.requests, 0).headers["api-key"], "bad-key-of-the-resource");
  }, "bad-key-of-the-resource");
});

Deno.test("the v1 API of azure is called without a version", async () => {
  const azure = await startSandbox({ port: 0 });
  const gateway = await startTestGateway({
    config: {
      models: [textModel("azure/chat", ["azure"])],
      providers: { azure: { kind: "azure", base_url: azure.baseUrls.azure, api_key: KEY } },
    },
  });
  assertEquals((await sendAs(CHAT, gateway, { model: "azure/chat", text: "hi" })).status, 200);
  assertEquals(azure.requests.map(({ path }) => path), ["/azure/openai/v1/chat/completions"]);
  await gateway.stop();
  await azure.stop();
});
