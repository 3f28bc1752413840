import { content } from "../../conversation/codecs/content/mod.ts";
import { isObject } from "../../conversation/wire_value.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import { embedInParts } from "../embedding_parts.ts";
import type { EmbeddingInput, EmbeddingOrder, EmbeddingOutcome, EmbeddingUpstream } from "../embedding_upstream.ts";
import type { ModelPaths } from "../model_paths.ts";
import type { Outbound } from "../outbound_call.ts";
import { exchangeVectors } from "../vector_exchange.ts";
import { readVectorList } from "../vector_list.ts";
import type { WholeExchange } from "../whole_exchange.ts";

const NAMES = {
  list: "predictions",
  within: "embeddings",
  vector: "values",
  statistics: "statistics",
  usage: "metadata",
};
/** Source: Vertex AI documentation, "Get text embeddings", limits. Gemini's model takes one text in a request. */
const MAX_INPUTS = 250;
const MAX_GEMINI_INPUTS = 1;
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
 * Embeddings of Google's text models at Vertex AI, by `predict`. Source: Vertex AI API reference, "Text embeddings
 * API".
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
      const maxInputs = /\bgemini-/.test(order.model) ? MAX_GEMINI_INPUTS : MAX_INPUTS;
      return embedInParts(order, maxInputs, (part) => predict(part, { outbound, pathOf, exchange }));
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

function instanceOf({ text, request }: EmbeddingInput): JsonObject {
  const taskType = request?.taskType ?? request?.task_type;
  const title = request?.title;
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
