import { content } from "../../../conversation/codecs/content/mod.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { embedInParts } from "../shared/embedding_parts.ts";
import type {
  EmbeddingInput,
  EmbeddingOrder,
  EmbeddingOutcome,
  EmbeddingUpstream,
} from "../contract/embedding_upstream.ts";
import type { ModelPaths } from "../shared/model_paths.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { exchangeVectors } from "../shared/vector_exchange.ts";
import { readBareVectors, readVectorList } from "../contract/vector_list.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

const NAMES = {
  list: "predictions",
  within: "embeddings",
  vector: "values",
  statistics: "statistics",
  usage: "metadata",
};
const EMBED_CONTENT = { vectors: "embedding", member: "values", usage: "usageMetadata" };
/** Source: Vertex AI documentation, "Get text embeddings", limits. Gemini's model takes one text in a request. */
const MAX_INPUTS = 250;
const MAX_GEMINI_INPUTS = 1;
/** Gemini's only model that is called by `predict`. Source: Google's Gen AI SDK. */
const FIRST_GEMINI = "gemini-embedding-001";
/** The members of a request in the content format that this format has, in both spellings. */
const CARRIED: ReadonlySet<string> = new Set([
  "content",
  "model",
  "outputDimensionality",
  "output_dimensionality",
  "taskType",
  "task_type",
  "title",
]);

/**
 * Embeddings of Google's models at Vertex AI, by `predict`, and of Gemini's later models by `embedContent`. Source:
 * Vertex AI API reference, "Text embeddings API" and "publishers.models.embedContent".
 */
export function vertexEmbeddings(outbound: Outbound, pathOf: ModelPaths): EmbeddingUpstream {
  return {
    maxInputs: null,
    unsupported: ({ inputs }) =>
      inputs.every(({ text }) => text !== null) ? null : "expected text, as this model's vendor takes nothing else",
    dropped: ({ inputs, extras }) => [
      ...Object.keys(extras),
      ...new Set(inputs.flatMap(({ request }) => Object.keys(request ?? {}).filter((name) => !CARRIED.has(name)))),
    ],
    embed: (order, exchange) => {
      const isGemini = /\bgemini-/.test(order.model);
      const send = isGemini && !order.model.endsWith(FIRST_GEMINI) ? embedContent : predict;
      const maxInputs = isGemini ? MAX_GEMINI_INPUTS : MAX_INPUTS;
      return embedInParts(order, maxInputs, (part) => send(part, { outbound, pathOf, exchange }));
    },
  };
}

interface Vendor {
  readonly outbound: Outbound;
  readonly pathOf: ModelPaths;
  readonly exchange: WholeExchange;
}

async function predict(order: EmbeddingOrder, { outbound, pathOf, exchange }: Vendor): Promise<EmbeddingOutcome> {
  const { vectors, statistics } = await exchangeVectors(outbound, {
    path: pathOf(order.model, "predict"),
    body: {
      instances: order.inputs.map(instanceOf),
      ...order.dimensions !== null && { parameters: { outputDimensionality: order.dimensions } },
    },
    read: (bytes, count) => readVectorList(bytes, NAMES, count),
    count: order.inputs.length,
    readError: content.upstream.readError,
  }, exchange);
  return { vectors, reportedTokens: tokensIn(statistics) };
}

/** The reply has one vector. */
async function embedContent(order: EmbeddingOrder, { outbound, pathOf, exchange }: Vendor): Promise<EmbeddingOutcome> {
  const [input] = order.inputs;
  const { taskType, title } = hintsIn(input?.request);
  const config = {
    ...taskType !== undefined && { taskType },
    ...title !== undefined && { title },
    ...order.dimensions !== null && { outputDimensionality: order.dimensions },
  };
  const { vectors, usage } = await exchangeVectors(outbound, {
    path: pathOf(order.model, "embedContent"),
    body: {
      content: { role: "user", parts: [{ text: input?.text ?? "" }] },
      ...Object.keys(config).length > 0 && { embedContentConfig: config },
    },
    read: (bytes, count) => readBareVectors(bytes, EMBED_CONTENT, count),
    count: 1,
    readError: content.upstream.readError,
  }, exchange);
  return { vectors, reportedTokens: isObject(usage) ? usage.promptTokenCount ?? null : null };
}

/** What a request in the content format says of the use of its vector. */
function hintsIn(request: JsonObject | null | undefined) {
  return { taskType: request?.taskType ?? request?.task_type, title: request?.title };
}

function instanceOf({ text, request }: EmbeddingInput): JsonObject {
  const { taskType, title } = hintsIn(request);
  return {
    content: text,
    ...taskType !== undefined && { task_type: taskType },
    ...title !== undefined && { title },
  };
}

/** The sum of the inputs; null if one has no count. */
function tokensIn(statistics: readonly unknown[]): number | null {
  const counts = statistics.map((each) => isObject(each) ? Number(each.token_count ?? NaN) : NaN);
  const sum = counts.reduce((total, count) => total + count, 0);
  return Number.isFinite(sum) ? sum : null;
}
