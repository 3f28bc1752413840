import { GoogleGenAI } from "@google/genai";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import OpenAI from "openai";
import { vectorOf } from "../../src/sandbox/vectors.ts";
import { type EmbeddingGateway, embeddingModel, withEmbeddings, withStub } from "./embedding_gateway.ts";

const openaiOf = ({ address, key }: EmbeddingGateway) =>
  new OpenAI({ apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 });

const googleOf = ({ address, key }: EmbeddingGateway, apiVersion = "v1beta") =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${address}/gencompat`, apiVersion } });

/** The numbers of two vectors are the same 32-bit floats. */
function assertVector(actual: readonly number[] | undefined, text: string, dimensions = 256): void {
  assertEquals(actual?.map(Math.fround), vectorOf(text, dimensions));
}

const MODELS = ["sandbox/embedding-1", "sandbox/embedding-2"];

Deno.test("embeddings: the OpenAI client gets the vectors of both vendors, in both encodings", async () => {
  await withEmbeddings({}, async (gateway) => {
    const client = openaiOf(gateway);
    for (const model of MODELS) {
      for (const encoding of [{}, { encoding_format: "float" }, { encoding_format: "base64" }] as const) {
        const made = await client.embeddings.create({ model, input: ["a red fox", "a blue whale"], ...encoding });
        assertEquals(made.data.map(({ index, object }) => [index, object]), [[0, "embedding"], [1, "embedding"]]);
        assertEquals([made.model, made.usage], [model, { prompt_tokens: 6, total_tokens: 6 }]);
        if ("encoding_format" in encoding && encoding.encoding_format === "base64") continue;
        assertVector(made.data[0]?.embedding, "a red fox");
        assertVector(made.data[1]?.embedding, "a blue whale");
      }
      const short = await client.embeddings.create({ model, input: "a red fox", dimensions: 8 });
      assertVector(short.data[0]?.embedding, "a red fox", 8);
    }
  });
});

Deno.test("embeddings: base64 is that of 32-bit floats for every vendor", async () => {
  await withEmbeddings({}, async (gateway) => {
    const texts = await Promise.all(MODELS.map(async (model) => {
      const answer = await gateway.post("/v1/embeddings", { model, input: "fox", encoding_format: "base64" });
      return (await answer.json()).data[0].embedding;
    }));
    assertEquals(texts[0], texts[1]);
    const bytes = Uint8Array.fromBase64(texts[0]);
    assertEquals([...new Float32Array(bytes.buffer)], vectorOf("fox", 256));
  });
});

Deno.test("embeddings: the Gemini client gets the vectors of both vendors, one and several", async () => {
  await withEmbeddings({}, async (gateway) => {
    for (const version of ["v1beta", "v1"]) {
      const client = googleOf(gateway, version);
      for (const model of MODELS) {
        const one = await client.models.embedContent({ model, contents: "a red fox" });
        assertVector(one.embeddings?.[0]?.values, "a red fox");
        const several = await client.models.embedContent({
          model,
          contents: ["a red fox", "a blue whale"],
          config: { outputDimensionality: 8 },
        });
        assertEquals(several.embeddings?.length, 2);
        assertVector(several.embeddings?.[1]?.values, "a blue whale", 8);
      }
    }
  });
});

Deno.test("embeddings: a single one is answered in the shape of embedContent, with its usage", async () => {
  await withEmbeddings({}, async (gateway) => {
    for (const model of MODELS) {
      const body = { content: { parts: [{ text: "a red fox" }] }, taskType: "RETRIEVAL_QUERY" };
      const answer = await gateway.post(`/gencompat/v1beta/models/${model}:embedContent`, body);
      const { embedding, usageMetadata } = await answer.json();
      assertVector(embedding.values, "a red fox");
      assertEquals(usageMetadata, { promptTokenCount: 3 });
      const dropped = model === "sandbox/embedding-1" ? "taskType" : null;
      assertEquals(answer.headers.get("x-service-dropped"), dropped);
      assertEquals(answer.headers.get("x-service-model"), model);
      assertEquals(answer.headers.get("x-service-cost"), "0.0000030000");
    }
  });
});

Deno.test("embeddings: token ids go to a vendor that takes them, and are refused for another", async () => {
  await withEmbeddings({}, async (gateway) => {
    for (const input of [[11, 12, 13], [[11, 12], [13]]]) {
      const answer = await gateway.post("/v1/embeddings", { model: "sandbox/embedding-1", input });
      assertEquals((await answer.json()).usage.prompt_tokens, 3);
      const refused = await gateway.post("/v1/embeddings", { model: "sandbox/embedding-2", input });
      const { error } = await refused.json();
      assertEquals([refused.status, error.param], [400, "input"]);
      assertStringIncludes(error.message, "takes no token ids");
    }
  });
});

Deno.test("embeddings: a content of several parts goes to Google only", async () => {
  await withEmbeddings({}, async (gateway) => {
    const body = { content: { parts: [{ text: "a red" }, { text: "fox" }] } };
    const answer = await gateway.post("/gencompat/v1beta/models/sandbox/embedding-2:embedContent", body);
    assertVector((await answer.json()).embedding.values, "a red fox");
    const refused = await gateway.post("/gencompat/v1beta/models/sandbox/embedding-1:embedContent", body);
    const { error } = await refused.json();
    assertEquals([refused.status, error.status], [400, "INVALID_ARGUMENT"]);
    assertStringIncludes(error.message, "one text part for each content");
  });
});

Deno.test("embeddings: the tokens that the vendor reports are charged, and logged with the endpoint", async () => {
  await withEmbeddings({}, async (gateway) => {
    for (const model of MODELS) {
      const answer = await gateway.post("/v1/embeddings", { model, input: ["a red fox", "a blue whale"] });
      assertEquals([answer.status, answer.headers.get("x-service-cost")], [200, "0.0000060000"]);
      await answer.body?.cancel();
    }
    assertEquals(Math.round(await gateway.spent() * 1e6), 12);
    const logged = await fetch(`${gateway.address}/admin/v1/requests?limit=5`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    const { data: [last] } = await logged.json();
    assertEquals([last.endpoint, last.model, last.cost], ["/v1/embeddings", "sandbox/embedding-2", "0.0000060000"]);
    assertEquals([last.usage.input_tokens, last.charged], [6, [{ price: "prompt", quantity: 6, rate: "0.000001" }]]);
  });
});

Deno.test("embeddings: fields that a vendor lacks are dropped and named", async () => {
  await withEmbeddings({}, async (gateway) => {
    const body = { model: "sandbox/embedding-1", input: "fox", user: "u", images: ["x"], "höhe": 1 };
    const answer = await gateway.post("/v1/embeddings", body);
    assertEquals([answer.status, answer.headers.get("x-service-dropped")], [200, "images, h?he"]);
    const sent = gateway.sandbox.requests.at(-1)?.body;
    assertEquals(sent, { model: "embedding-1", input: "fox", user: "u" });
    await answer.body?.cancel();
    const google = await gateway.post("/v1/embeddings", { ...body, model: "sandbox/embedding-2" });
    assertEquals(google.headers.get("x-service-dropped"), "images, h?he, user");
    await google.body?.cancel();
  });
});

Deno.test("embeddings: another provider is tried after a failure, and then a fallback model", async () => {
  const models = [
    embeddingModel("sandbox/pair-1", ["sandbox-openai", "sandbox-google"]),
    embeddingModel("sandbox/first-1", ["sandbox-openai"], { fallbacks: ["sandbox/embedding-2"] }),
  ];
  await withEmbeddings({ models, random: () => 0 }, async (gateway) => {
    for (const model of ["sandbox/pair-1", "sandbox/first-1"]) {
      const answer = await gateway.post("/v1/embeddings", { model, input: `[[openai: fail 503]] ${model}` });
      assertEquals([answer.status, answer.headers.get("x-service-provider")], [200, "sandbox-google"], model);
      await answer.body?.cancel();
    }
  });
});

Deno.test("embeddings: models without them are named with what serves them, and the other way round", async () => {
  await withEmbeddings({}, async (gateway) => {
    const refused = await gateway.post("/v1/embeddings", { model: "sandbox/chat-1", input: "fox" });
    const { error } = await refused.json();
    assertEquals([refused.status, error.param], [400, "model"]);
    assertStringIncludes(
      error.message,
      '"sandbox/chat-1" does not make embeddings; it is served by /v1/chat/completions',
    );
    const body = { model: "sandbox/embedding-1", messages: [{ role: "user", content: "fox" }] };
    const chat = await gateway.post("/v1/chat/completions", body);
    assertStringIncludes((await chat.json()).error.message, "it is served by /v1/embeddings");
    const image = await gateway.post("/v1/images/generations", { model: "sandbox/embedding-1", prompt: "fox" });
    assertStringIncludes((await image.json()).error.message, "it is served by /v1/embeddings");
    const unknown = await gateway.post("/v1/embeddings", { model: "sandbox/embedding-9", input: "fox" });
    const { error: missing } = await unknown.json();
    assertEquals(unknown.status, 404);
    assertStringIncludes(missing.message, '"sandbox/embedding-1"');
    assert(!missing.message.includes("chat"), missing.message);
  });
});

Deno.test("embeddings: the catalogs show the models with what they make", async () => {
  await withEmbeddings({}, async (gateway) => {
    const get = async (path: string) =>
      await (await fetch(`${gateway.address}${path}`, { headers: { authorization: `Bearer ${gateway.key}` } })).json();
    const model = await get("/v1/models/sandbox/embedding-1");
    assertEquals(model.architecture.output_modalities, ["embeddings"]);
    assertEquals(model.embedding, { dimensions: null, max_inputs: 2048 });
    const { models } = await get("/gencompat/v1beta/models");
    const methods = Object.fromEntries(models.map((each: Record<string, unknown>) => [each.name, each]));
    assertEquals(methods["models/sandbox/embedding-1"].supportedGenerationMethods, [
      "embedContent",
      "batchEmbedContents",
    ]);
    const { data } = await get("/msgcompat/v1/models");
    assert(data.every(({ id }: { readonly id: string }) => !id.includes("embedding")));
  });
});

Deno.test("embeddings: a key limited to other endpoints or models is refused at every path", async () => {
  await withEmbeddings({}, async (gateway) => {
    const keyWith = async (limits: unknown) => {
      const made = await fetch(`${gateway.address}/admin/v1/accounts/demo/keys`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
        body: JSON.stringify(limits),
      });
      return { authorization: `Bearer ${(await made.json()).secret}` };
    };
    const chatOnly = await keyWith({ endpoints: ["chat_completions", "generate_content"] });
    const own = await keyWith({ endpoints: ["embeddings"], models: ["sandbox/embedding-1"] });
    const base = "/gencompat/v1beta/models/sandbox";
    const content = { content: { parts: [{ text: "fox" }] } };
    const requests: readonly [path: string, body: unknown][] = [
      ["/v1/embeddings", { model: "sandbox/embedding-1", input: "fox" }],
      [`${base}/embedding-1:embedContent`, content],
      [`${base}/embedding-1:batchEmbedContents`, { requests: [content] }],
    ];
    for (const [path, body] of requests) {
      const statuses = [await gateway.post(path, body, chatOnly), await gateway.post(path, body, own)];
      assertEquals(statuses.map(({ status }) => status), [403, 200], path);
      for (const each of statuses) await each.body?.cancel();
    }
    const encoded = await gateway.post(`${base}/embedding-1%3AembedContent`, content, chatOnly);
    assert(encoded.status >= 400, "an encoded colon leads around no limit");
    await encoded.body?.cancel();
    const denied = await gateway.post(`${base}/embedding-2:embedContent`, content, own);
    assertEquals([denied.status, (await denied.json()).error.status], [403, "PERMISSION_DENIED"]);
  });
});

Deno.test("embeddings: an account without money, or with too little, is refused before any vendor call", async () => {
  await withEmbeddings({ balance: "0.00001" }, async (gateway) => {
    const answer = await gateway.post("/v1/embeddings", { model: "sandbox/embedding-1", input: "x".repeat(10_000) });
    assertEquals([answer.status, (await answer.json()).error.type], [402, "insufficient_credits"]);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("embeddings: the OpenAI client gets an error of its own kind", async () => {
  await withEmbeddings({}, async (gateway) => {
    const client = openaiOf(gateway);
    const failure = await assertRejects(() => client.embeddings.create({ model: "sandbox/chat-1", input: "fox" }));
    assert(failure instanceof OpenAI.BadRequestError);
    assertEquals(failure.param, "model");
    const refused = await assertRejects(() =>
      client.embeddings.create({ model: "sandbox/embedding-1", input: "[[fail 429]] fox" })
    );
    assert(refused instanceof OpenAI.RateLimitError);
  });
});

Deno.test("embeddings: a vendor with the quirk gets output_dimension, and base64 alone as an encoding", async () => {
  const bodies: Record<string, unknown>[] = [];
  await withStub(async (request) => {
    bodies.push(await request.json());
    return '{"data":[{"embedding":[0.5,1]}],"usage":{"total_tokens":1}}';
  }, async ({ post }) => {
    for (const encoding_format of ["float", "base64"]) {
      const body = { model: "stub/embedding-1", input: "a", dimensions: 2, encoding_format };
      const answer = await post("/v1/embeddings", body);
      assertEquals(answer.status, 200, await answer.text());
    }
    const sent = { model: "embedding-1", input: "a", output_dimension: 2 };
    assertEquals(bodies, [sent, { ...sent, encoding_format: "base64" }]);
  }, { quirks: ["output_dimension"] });
});
