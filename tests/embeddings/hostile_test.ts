import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withEmbeddings, withStub } from "./embedding_gateway.ts";

const REQUEST = { model: "sandbox/embedding-1", input: "fox" };

Deno.test("embeddings: bad requests are refused with the field, and nothing is sent", async () => {
  await withEmbeddings({}, async (gateway) => {
    const cases: readonly [change: Record<string, unknown>, field: string][] = [
      [{ model: undefined }, "model"],
      [{ model: 7 }, "model"],
      [{ model: "" }, "model"],
      [{ input: undefined }, "input"],
      [{ input: [] }, "input"],
      [{ input: {} }, "input"],
      [{ input: [[]] }, "input[0]"],
      [{ input: ["a", null] }, "input[1]"],
      [{ input: ["a", ["b"]] }, "input[1]"],
      [{ input: [[[1]]] }, "input[0]"],
      [{ input: [1, "a"] }, "input"],
      [{ input: [1.5] }, "input"],
      [{ input: [-1] }, "input"],
      [{ input: [2 ** 40] }, "input"],
      [{ input: new Array(2049).fill("a") }, "input"],
      [{ encoding_format: "hex" }, "encoding_format"],
      [{ encoding_format: 1 }, "encoding_format"],
      [{ dimensions: 0 }, "dimensions"],
      [{ dimensions: -1 }, "dimensions"],
      [{ dimensions: 1e9 }, "dimensions"],
      [{ dimensions: "8" }, "dimensions"],
      [{ extra_body: 1 }, "extra_body"],
    ];
    for (const [change, field] of cases) {
      const answer = await gateway.post("/v1/embeddings", { ...REQUEST, ...change });
      const { error } = await answer.json();
      assertEquals([answer.status, error.param], [400, field], JSON.stringify(change).slice(0, 80));
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("embeddings: bad content requests are refused with the field", async () => {
  await withEmbeddings({}, async (gateway) => {
    const good = { content: { parts: [{ text: "fox" }] } };
    const cases: readonly [verb: string, body: unknown, field: string][] = [
      ["embedContent", {}, "content"],
      ["embedContent", { content: "fox" }, "content"],
      ["embedContent", { content: { parts: [] } }, "content"],
      ["embedContent", { content: { parts: [1] } }, "content.parts[0]"],
      ["embedContent", { content: { parts: [{ text: 1 }] } }, "content.parts[0]"],
      ["embedContent", { ...good, model: "models/other" }, "model"],
      ["embedContent", { ...good, outputDimensionality: 0 }, "outputDimensionality"],
      ["embedContent", { ...good, output_dimensionality: "8" }, "output_dimensionality"],
      ["batchEmbedContents", {}, "requests"],
      ["batchEmbedContents", { requests: [] }, "requests"],
      ["batchEmbedContents", { requests: [good, 1] }, "requests[1]"],
      ["batchEmbedContents", { requests: [good, { content: {} }] }, "requests[1].content"],
      ["batchEmbedContents", { requests: [good, { ...good, outputDimensionality: 8 }] }, "requests[1]"],
      ["batchEmbedContents", { requests: new Array(101).fill(good) }, "requests"],
    ];
    for (const [verb, body, field] of cases) {
      const answer = await gateway.post(`/gencompat/v1beta/models/sandbox/embedding-2:${verb}`, body);
      const { error } = await answer.json();
      assertEquals([answer.status, error.status], [400, "INVALID_ARGUMENT"], JSON.stringify(body).slice(0, 80));
      assertStringIncludes(error.message, field);
    }
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("embeddings: 40,000 inputs, a long body and half a million values are refused", async () => {
  await withEmbeddings({}, async (gateway) => {
    const many = await gateway.post("/v1/embeddings", { ...REQUEST, input: new Array(40_000).fill("a") });
    assertStringIncludes((await many.json()).error.message, "expected at most 2048 inputs, got 40000");
    const ids = await gateway.post("/v1/embeddings", { ...REQUEST, input: new Array(500_000).fill(1) });
    assertStringIncludes((await ids.json()).error.message, "at most 350000 JSON values");
    const long = await gateway.post("/v1/embeddings", { ...REQUEST, input: "x".repeat(4_000_001) });
    assertEquals([long.status, (await long.json()).error.type], [413, "invalid_request_error"]);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

const ask = { model: "stub/embedding-1", input: ["fox", "whale"] };
const vector = (index: number, embedding: string) => `{"object":"embedding","index":${index},"embedding":${embedding}}`;
const reply = (data: readonly string[], usage = '{"prompt_tokens":2,"total_tokens":2}') =>
  `{"object":"list","data":[${data.join()}],"model":"x","usage":${usage}}`;

Deno.test("embeddings: a broken reply is an error without a charge", async () => {
  const broken = [
    "",
    "null",
    "[]",
    "{}",
    '{"data":null}',
    reply([]),
    reply([vector(0, "[1,2]")]),
    reply([vector(0, "[1,2]"), vector(1, "[1,2]"), vector(2, "[1,2]")]),
    reply([vector(0, "[1,2]"), vector(0, "[1,2]")]),
    reply([vector(0, "[1,2]"), vector(7, "[1,2]")]),
    reply([vector(0, "[1,2]"), vector(-1, "[1,2]")]),
    reply([vector(0, "[1,2]"), vector(1, "[1,NaN]")]),
    reply([vector(0, "[1,2]"), vector(1, "[1,null]")]),
    reply([vector(0, "[1,2]"), vector(1, "[]")]),
    reply([vector(0, "[1,2]"), vector(1, "[1]")]),
    reply([vector(0, "[1,2]"), vector(1, "[[1,2]]")]),
    reply([vector(0, "[1,2]"), vector(1, '["a",2]')]),
    reply([vector(0, "[1,2]"), vector(1, '"not base64!"')]),
    reply([vector(0, "[1,2]"), vector(1, "{}")]),
    reply([vector(0, "[1,2]"), vector(1, "[1,2]")]).slice(0, -1),
    reply([vector(0, "[1,2]"), vector(1, "[1,2]")]).slice(0, 60),
    `${reply([vector(0, "[1,2]"), vector(1, "[1,2]")])}x`,
    `{"data":${"[".repeat(10_000)}`,
  ];
  let current = "";
  await withStub(() => current, async (gateway) => {
    for (current of broken) {
      const answer = await gateway.post("/v1/embeddings", ask);
      const { error } = await answer.json();
      assertEquals([answer.status, error.type], [502, "upstream_error"], current.slice(0, 120));
    }
    assertEquals(await gateway.spent(), 0);
    current = reply([vector(0, "[1,2]"), vector(1, "[1e999,2]")]);
    const converted = await gateway.post("/v1/embeddings", { ...ask, encoding_format: "base64" });
    assertEquals(converted.status, 502);
    await converted.body?.cancel();
  });
});

Deno.test("embeddings: vectors are put in the order of their inputs, and a vendor may ignore the encoding", async () => {
  const text = reply([vector(1, "[ 3 , 4e0 ]"), vector(0, "[1,-2.5]")]);
  await withStub(() => text, async (gateway) => {
    const floats = await (await gateway.post("/v1/embeddings", ask)).json();
    assertEquals(floats.data.map((each: { embedding: unknown }) => each.embedding), [[1, -2.5], [3, 4]]);
    const encoded = await (await gateway.post("/v1/embeddings", { ...ask, encoding_format: "base64" })).json();
    const bytes = Uint8Array.fromBase64(encoded.data[0].embedding);
    assertEquals([...new Float32Array(bytes.buffer)], [1, -2.5]);
  });
});

Deno.test("embeddings: missing, unreadable and excessive usage is replaced by the gateway's own", async () => {
  const cases: readonly [usage: string, tokens: number][] = [
    ["null", 2],
    ["{}", 2],
    ['{"prompt_tokens":-5}', 2],
    ['{"prompt_tokens":"many"}', 2],
    ['{"prompt_tokens":0}', 2],
    ['{"prompt_tokens":1.5}', 2],
    ['{"prompt_tokens":3}', 3],
    // A text has at most one token per byte; a vendor may add sixteen to each.
    ['{"prompt_tokens":1000000000}', 8 + 32],
  ];
  let usage = "";
  await withStub(() => reply([vector(0, "[1]"), vector(1, "[1]")], usage), async (gateway) => {
    let spent = 0;
    for (const [text, tokens] of cases) {
      usage = text;
      const answer = await (await gateway.post("/v1/embeddings", ask)).json();
      assertEquals(answer.usage, { prompt_tokens: tokens, total_tokens: tokens }, text);
      spent += tokens;
    }
    assertEquals(Math.round(await gateway.spent() * 1e6), spent);
    const reasons = gateway.logLines.filter((line) => line.includes("usage_implausible"));
    assertEquals(reasons.length, 5);
  });
});

Deno.test("embeddings: a reply of many megabytes is forwarded as it is", async () => {
  const numbers = `[${new Array(1_000).fill("0.012345678901234567").join()}]`;
  const text = reply(new Array(300).fill(0).map((_, nth) => vector(nth, numbers)));
  assert(text.length > 5_000_000);
  await withStub(() => text, async (gateway) => {
    const answer = await gateway.post("/v1/embeddings", { ...ask, input: new Array(300).fill("fox") });
    const { data } = await answer.json();
    assertEquals([data.length, data[299].embedding.length], [300, 1_000]);
  });
});

Deno.test("embeddings: of two requests at once, the balance covers the reservation of one", async () => {
  const [arrived, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = async () => {
    arrived.resolve();
    await finished.promise;
    return reply([vector(0, "[1]"), vector(1, "[1]")]);
  };
  // 6 bytes and 16 more tokens for each input are reserved.
  await withStub(held, async (gateway) => {
    const first = gateway.post("/v1/embeddings", ask);
    await arrived.promise;
    const second = await gateway.post("/v1/embeddings", ask);
    assertEquals([second.status, (await second.json()).error.type], [402, "insufficient_credits"]);
    finished.resolve();
    const served = await first;
    assertEquals(served.status, 200);
    await served.body?.cancel();
  }, { balance: "0.00005" });
});
