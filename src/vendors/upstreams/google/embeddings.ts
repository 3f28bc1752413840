import { content } from "../../../conversation/codecs/content/mod.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { EmbeddingInput, EmbeddingOrder, EmbeddingUpstream } from "../contract/embedding_upstream.ts";
import { geminiPath } from "../shared/model_paths.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { exchangeVectors } from "../shared/vector_exchange.ts";
import { readVectorList } from "../contract/vector_list.ts";

const NAMES = { list: "embeddings", vector: "values", usage: "usageMetadata" };
/** Source: Gemini API reference, "Embeddings": the error of a longer batch. */
const MAX_INPUTS = 100;

/**
 * Embeddings of Google. A single one is sent as a batch of one. Source: Gemini API reference, "Embeddings",
 * `batchEmbedContents`.
 */
export function googleEmbeddings(outbound: Outbound): EmbeddingUpstream {
  return {
    maxInputs: MAX_INPUTS,
    unsupported: ({ inputs }) =>
      inputs.every(({ tokens }) => tokens === null) ? null : "expected text, as this model's vendor takes no token ids",
    dropped: ({ extras }) => Object.keys(extras),
    async embed(order, exchange) {
      const { vectors, usage } = await exchangeVectors(outbound, {
        path: geminiPath(order.model, "batchEmbedContents"),
        body: { requests: order.inputs.map((input) => requestOf(input, order)) },
        read: (bytes, count) => readVectorList(bytes, NAMES, count),
        count: order.inputs.length,
        readError: content.upstream.readError,
      }, exchange);
      return { vectors, reportedTokens: isObject(usage) ? usage.promptTokenCount ?? null : null };
    },
  };
}

function requestOf({ text, request }: EmbeddingInput, { model, dimensions }: EmbeddingOrder): JsonObject {
  const name = `models/${model}`;
  if (request !== null) return { ...request, model: name };
  return {
    model: name,
    content: { parts: [{ text }] },
    ...dimensions !== null && { outputDimensionality: dimensions },
  };
}
