import { assert, assertEquals } from "@std/assert";
import { vectorOf } from "../../src/sandbox/vectors.ts";
import { eventually } from "../support/account_money.ts";
import { withEmbeddings, withStub } from "./embedding_gateway.ts";

const VECTOR = '{"data":[{"embedding":[1,2],"index":0}],"usage":{"prompt_tokens":1}}';

Deno.test("embeddings: several isolates serve both faces", async () => {
  await withEmbeddings({ isolates: 2 }, async (gateway) => {
    const input = "a red fox";
    for (let round = 0; round < 4; round++) {
      const answer = await gateway.post("/v1/embeddings", { model: "sandbox/embedding-1", input });
      assertEquals((await answer.json()).data[0].embedding, vectorOf(input, 256));
      const body = { requests: [{ content: { parts: [{ text: input }] } }] };
      const path = "/gencompat/v1beta/models/sandbox/embedding-1:batchEmbedContents";
      assertEquals((await (await gateway.post(path, body)).json()).embeddings[0].values, vectorOf(input, 256));
    }
  });
});

Deno.test("embeddings: work for a caller who left is finished and charged", async () => {
  const [arrived, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = async () => {
    arrived.resolve();
    await finished.promise;
    return VECTOR;
  };
  await withStub(held, async (gateway) => {
    const leaving = new AbortController();
    const request = fetch(`${gateway.address}/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "stub/embedding-1", input: "fox" }),
      signal: leaving.signal,
    }).catch(() => null);
    await arrived.promise;
    leaving.abort();
    await request;
    finished.resolve();
    await eventually(async () => await gateway.spent() > 0);
  });
});

Deno.test("embeddings: a request with an Idempotency-Key is repeated without a second charge", async () => {
  let calls = 0;
  const counted = () => {
    calls++;
    return VECTOR;
  };
  await withStub(counted, async (gateway) => {
    const headers = { "idempotency-key": "once" };
    const ask = () => gateway.post("/v1/embeddings", { model: "stub/embedding-1", input: "fox" }, headers);
    const texts = [await (await ask()).text(), await (await ask()).text()];
    assertEquals(texts[0], texts[1]);
    assert(texts[0]?.includes("[1,2]"));
    assertEquals(calls, 1);
  });
});
