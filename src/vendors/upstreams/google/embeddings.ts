import { Buffer } from "node:buffer";
import { content } from "../../../conversation/codecs/content/mod.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { EmbeddingInput, EmbeddingOrder, EmbeddingUpstream } from "../contract/embedding_upstream.ts";
import { readMember } from "../shared/batch_exchange.ts";
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

/**
 * Embeddings as lines of Google's batches, each of which has one input. Source: Gemini API reference, "Embeddings",
 * `embedContent`; "Batch API", `asyncBatchEmbedContent`.
 */
export function googleBatchedEmbeddings(outbound: Outbound): EmbeddingUpstream {
  return {
    ...googleEmbeddings(outbound),
    maxInputs: 1,
    async embed(order, exchange) {
      const [input] = order.inputs;
      if (input === undefined || order.inputs.length > 1) throw new TypeError("A line of a batch has one input");
      const { vectors, usage } = await exchangeVectors(outbound, {
        path: geminiPath(order.model, "embedContent"),
        body: requestOf(input, order),
        read: (bytes, count) => readVectorList(listOfOne(bytes), NAMES, count),
        count: 1,
        readError: content.upstream.readError,
      }, exchange);
      return { vectors, reportedTokens: isObject(usage) ? usage.promptTokenCount ?? null : null };
    },
  };
}

/** A reply of `embedContent` as one of `batchEmbedContents`. */
function listOfOne(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const vector = readMember(bytes, "embedding");
  if (vector === null) throw new TypeError("The reply has no embedding");
  const usage = readMember(bytes, "usageMetadata");
  const rest = usage === null ? [] : [Buffer.from(',"usageMetadata":'), usage];
  return new Uint8Array(
    Buffer.concat([Buffer.from('{"embeddings":['), vector, Buffer.from("]"), ...rest, Buffer.from("}")]),
  );
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
