import { assertEquals } from "@std/assert";
import { startEmbeddingGateway } from "../embeddings/embedding_gateway.ts";
import { imageModel } from "../images/image_gateway.ts";

const ENTRY = new URL("./unrelayed_thread.ts", import.meta.url);

Deno.test("isolates: texts of any size, images, calls with JSON and catalogs are answered where they arrive", async () => {
  const models = [{
    id: "sandbox/moderation-1",
    pricing: { request: "0.00001" },
    moderation: {},
    serves: [{ provider: "sandbox-openai" }],
  }, imageModel("sandbox/image-1", { edits: true }, ["sandbox-openai"])];
  const gateway = await startEmbeddingGateway({ isolates: 2, isolateEntry: ENTRY, models });
  const { address, key } = gateway;
  const authorization = `Bearer ${key}`;
  const post = async (path: string, body: unknown) => {
    const response = await fetch(address + path, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: body instanceof ReadableStream ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return response.status === 200 ? 200 : `${response.status}: ${text}`;
  };
  const get = async (path: string) => {
    const response = await fetch(address + path, { headers: { authorization } });
    await response.body?.cancel();
    return response.status;
  };
  const long = { model: "sandbox/chat-1", messages: [{ role: "user", content: "word ".repeat(200_000) }] };
  const image = { model: "sandbox/image-1", prompt: "a fox", quality: "low" };
  assertEquals(
    {
      text: await post("/v1/chat/completions", long),
      chunks: await post("/v1/chat/completions", ReadableStream.from([new TextEncoder().encode(JSON.stringify(long))])),
      embedding: await post("/v1/embeddings", { model: "sandbox/embedding-1", input: "hi" }),
      moderation: await post("/v1/moderations", { model: "sandbox/moderation-1", input: "hi" }),
      image: await post("/v1/images/generations", image),
      largeImage: await post("/v1/images/generations", { ...image, user: "x".repeat(2_100_000) }),
      models: await get("/v1/models"),
      model: await get("/v1/models/sandbox/chat-1"),
      videoModels: await get("/v1/videos/models"),
      ofMessages: await get("/msgcompat/v1/models"),
    },
    {
      text: 200,
      chunks: 200,
      embedding: 200,
      moderation: 200,
      image: 200,
      largeImage: 200,
      models: 200,
      model: 200,
      videoModels: 200,
      ofMessages: 200,
    },
  );
  assertEquals([await get("/v1/key"), await get("/v1/videos")], [503, 503]);
  // Another thread parses it. Nothing of it goes over a connection to the main thread.
  const larger = { ...long, messages: [{ role: "user", content: "word ".repeat(500_000) }] };
  assertEquals(await post("/v1/chat/completions", larger), 200);
  await gateway.stop();
});
