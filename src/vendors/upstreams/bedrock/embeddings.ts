import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { embedInParts } from "../shared/embedding_parts.ts";
import type { EmbeddingOrder, EmbeddingOutcome, EmbeddingUpstream } from "../contract/embedding_upstream.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { exchangeVectors } from "../shared/vector_exchange.ts";
import { type BareVectorNames, readBareVectors } from "../contract/vector_list.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";
import { pathNameOf } from "./model_name.ts";
import { readRefusal } from "./refusal.ts";

/** The format of one maker's models. */
interface EmbeddingFormat {
  /** Of one request. */
  readonly maxInputs: number;
  /** The fields of a caller's request that it has. */
  readonly extras: readonly string[];
  readonly names: BareVectorNames;
  bodyOf(order: EmbeddingOrder): JsonObject;
}

/** Source: Amazon Bedrock User Guide, "Amazon Titan Text Embeddings models". */
const TITAN: EmbeddingFormat = {
  maxInputs: 1,
  extras: ["normalize"],
  names: { vectors: "embedding", usage: "inputTextTokenCount" },
  bodyOf: ({ inputs, dimensions, extras }) => ({
    inputText: inputs[0]?.text ?? "",
    ...dimensions !== null && { dimensions },
    ...sent(extras, TITAN),
  }),
};

/** Source: Amazon Bedrock User Guide, "Cohere Embed v3", "Cohere Embed v4". */
const COHERE: EmbeddingFormat = {
  maxInputs: 96,
  extras: ["input_type", "truncate"],
  names: { vectors: "embeddings" },
  bodyOf: ({ inputs, dimensions, extras }) => ({
    texts: inputs.map(({ text }) => text),
    // It is required. Vectors of documents and of queries can be compared.
    input_type: "search_document",
    embedding_types: ["float"],
    ...dimensions !== null && { output_dimension: dimensions },
    ...sent(extras, COHERE),
  }),
};

/** In place of a member of the reply, which Cohere's models do not have. */
const TOKENS_HEADER = "x-amzn-bedrock-input-token-count";
/** The members of a request in the content format that these formats have. */
const CARRIED: ReadonlySet<string> = new Set(["content", "model", "outputDimensionality", "output_dimensionality"]);

/** Embeddings of Titan and Cohere at Bedrock. Source: Amazon Bedrock API reference, "InvokeModel". */
export function bedrockEmbeddings(outbound: Outbound): EmbeddingUpstream {
  return {
    maxInputs: null,
    unsupported: ({ inputs }) =>
      inputs.every(({ text }) => text !== null) ? null : "expected text, as this model's vendor takes nothing else",
    dropped({ model, inputs, extras }) {
      const known = formatOf(model)?.extras ?? [];
      return [
        ...Object.keys(extras).filter((name) => !known.includes(name)),
        ...new Set(inputs.flatMap(({ request }) => Object.keys(request ?? {}).filter((name) => !CARRIED.has(name)))),
      ];
    },
    embed(order, exchange) {
      const format = formatOf(order.model);
      if (format === null) {
        throw outbound.failure("invalid", "The model makes no embeddings in the formats of Titan and Cohere", {
          field: "model",
        });
      }
      return embedInParts(order, format.maxInputs, (part) => invoke(part, format, { outbound, exchange }));
    },
  };
}

/** Null for models of other makers. An ARN that does not show the maker follows its name: `cohere/arn:…`. */
function formatOf(model: string): EmbeddingFormat | null {
  if (/(?:^|[./])cohere[./]/.test(model)) return COHERE;
  return /(?:^|[./])(?:amazon\.titan-embed|titan\/)/.test(model) ? TITAN : null;
}

async function invoke(
  order: EmbeddingOrder,
  { names, bodyOf }: EmbeddingFormat,
  { outbound, exchange }: { readonly outbound: Outbound; readonly exchange: WholeExchange },
): Promise<EmbeddingOutcome> {
  const { vectors, usage, header } = await exchangeVectors(outbound, {
    path: `/model/${pathNameOf(order.model)}/invoke`,
    body: bodyOf(order),
    read: (bytes, count) => readBareVectors(bytes, names, count),
    count: order.inputs.length,
    readError: readRefusal,
  }, exchange);
  const counted = header(TOKENS_HEADER);
  return { vectors, reportedTokens: usage ?? (counted === null ? null : Number(counted)) };
}

function sent(extras: JsonObject, { extras: known }: Pick<EmbeddingFormat, "extras">): JsonObject {
  return Object.fromEntries(Object.entries(extras).filter(([name]) => known.includes(name)));
}
