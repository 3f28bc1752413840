import { assertEquals, assertRejects } from "@std/assert";
import type {
  EmbeddingInput,
  EmbeddingOrder,
  EmbeddingUpstream,
} from "../../../src/vendors/upstreams/contract/embedding_upstream.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { type Seen, type VendorAnswer, withVendor } from "../vendor.ts";

const EXCHANGE = { reserve: () => {}, onResponse: () => {} };
const MODELS = "/base/v1beta1/projects/acme/locations/global/publishers/google/models";
const textInput = (text: string): EmbeddingInput => ({ text, tokens: null, request: null });
const orderOf = (inputs: readonly EmbeddingInput[], more: Partial<EmbeddingOrder> = {}): EmbeddingOrder => ({
  model: "text-embedding-005",
  inputs,
  dimensions: null,
  encoding: null,
  extras: {},
  ...more,
});
const prediction = (values: readonly number[], statistics: unknown = { token_count: 2, truncated: false }) => ({
  embeddings: { statistics, values },
});
const answerOf = (...predictions: readonly unknown[]): VendorAnswer => ({
  body: { predictions, metadata: { billableCharacterCount: 9 } },
});
const TEXT = new TextDecoder();

function withEmbeddings(
  answers: readonly VendorAnswer[],
  test: (embeddings: EmbeddingUpstream, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  return withVendor("vertex", answers, async (provider, seen) => {
    await test(await provider.capabilities.embeddings!.load(), seen);
  });
}

Deno.test("Vertex embeddings: texts are instances of one prediction", async () => {
  await withEmbeddings([answerOf(prediction([1, 2]), prediction([3, 4]))], async (embeddings, seen) => {
    const request = { content: { parts: [{ text: "b" }] }, taskType: "RETRIEVAL_QUERY", title: "B", other: 1 };
    const inputs = [textInput("a"), { ...textInput("b"), request }];
    const order = orderOf(inputs, { dimensions: 2, extras: { user: "me" } });
    const { vectors, reportedTokens } = await embeddings.embed(order, EXCHANGE);
    assertEquals(vectors.map(({ bytes }) => TEXT.decode(bytes)), ["[1,2]", "[3,4]"]);
    assertEquals(reportedTokens, 4);
    assertEquals(seen[0]?.path, `${MODELS}/text-embedding-005:predict`);
    assertEquals(seen[0]?.json, {
      instances: [{ content: "a" }, { content: "b", task_type: "RETRIEVAL_QUERY", title: "B" }],
      parameters: { outputDimensionality: 2 },
    });
    assertEquals(embeddings.dropped(order), ["user", "other"]);
  });
});

Deno.test("Vertex embeddings: Gemini's model gets one text in a request, others 250", async () => {
  await withEmbeddings([answerOf(prediction([1]))], async (embeddings, seen) => {
    const inputs = ["a", "b", "c"].map(textInput);
    const { vectors, reportedTokens } = await embeddings.embed(
      orderOf(inputs, { model: "gemini-embedding-001" }),
      EXCHANGE,
    );
    assertEquals([vectors.length, reportedTokens, seen.length], [3, 6, 3]);
    assertEquals(seen.map(({ json }) => json.instances[0].content).sort(), ["a", "b", "c"]);
  });
  const full = answerOf(...Array.from({ length: 250 }, () => prediction([1])));
  await withEmbeddings([full, answerOf(prediction([1]))], async (embeddings, seen) => {
    const inputs = Array.from({ length: 251 }, () => textInput("a"));
    assertEquals((await embeddings.embed(orderOf(inputs), EXCHANGE)).vectors.length, 251);
    assertEquals(seen.map(({ json }) => json.instances.length).sort(), [1, 250]);
  });
});

Deno.test("Vertex embeddings: Gemini's later models are called by embedContent, for each text", async () => {
  const answer = { body: { embedding: { values: [1, 2] }, usageMetadata: { promptTokenCount: 3 }, truncated: false } };
  await withEmbeddings([answer], async (embeddings, seen) => {
    const request = { content: { parts: [{ text: "b" }] }, taskType: "CLUSTERING", title: "B" };
    const order = orderOf([textInput("a"), { ...textInput("b"), request }], { model: "gemini-embedding-2" });
    const { vectors, reportedTokens } = await embeddings.embed({ ...order, dimensions: 2 }, EXCHANGE);
    assertEquals([vectors.map(({ bytes }) => TEXT.decode(bytes)), reportedTokens], [["[1,2]", "[1,2]"], 6]);
    assertEquals(seen.map(({ path }) => path), new Array(2).fill(`${MODELS}/gemini-embedding-2:embedContent`));
    const ofText = (text: string) => seen.find(({ json }) => json.content.parts[0].text === text)?.json;
    assertEquals(ofText("a"), {
      content: { role: "user", parts: [{ text: "a" }] },
      embedContentConfig: { outputDimensionality: 2 },
    });
    assertEquals(ofText("b").embedContentConfig, { taskType: "CLUSTERING", title: "B", outputDimensionality: 2 });
  });
});

Deno.test("Vertex embeddings: a missing count is no report, and broken replies are failures", async () => {
  await withEmbeddings([answerOf(prediction([1], {}))], async (embeddings) => {
    assertEquals((await embeddings.embed(orderOf([textInput("a")]), EXCHANGE)).reportedTokens, null);
  });
  const broken = [answerOf(), answerOf(prediction([1]), prediction([2])), answerOf({ values: [1] }), { body: "{}" }];
  for (const answer of broken) {
    await withEmbeddings([answer], async (embeddings) => {
      const failure = await assertRejects(() => embeddings.embed(orderOf([textInput("a")]), EXCHANGE), UpstreamFailure);
      assertEquals(failure.kind, "broken");
    });
  }
});

Deno.test("Vertex embeddings: token ids are unsupported", async () => {
  await withEmbeddings([answerOf()], (embeddings) => {
    assertEquals(embeddings.unsupported({ inputs: [textInput("a")] }), null);
    const ids: EmbeddingInput = { text: null, tokens: [1], request: null };
    assertEquals(typeof embeddings.unsupported({ inputs: [ids] }), "string");
    return Promise.resolve();
  });
});
