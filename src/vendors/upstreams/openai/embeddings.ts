import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { NO_QUIRKS, type Quirks } from "../../../conversation/contract/quirks.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { EndpointPaths } from "../shared/endpoint_paths.ts";
import type { EmbeddingInput, EmbeddingOrder, EmbeddingUpstream } from "../contract/embedding_upstream.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { exchangeVectors } from "../shared/vector_exchange.ts";
import { readVectorList } from "../contract/vector_list.ts";

const NAMES = { list: "data", vector: "embedding", usage: "usage" };
/** The members of a request in the content format that this format has. */
const CARRIED: ReadonlySet<string> = new Set([
  "content",
  "model",
  "outputDimensionality",
  "output_dimensionality",
]);

/** Embeddings of OpenAI and compatible vendors. Source: OpenAI API reference, "Create embeddings". */
export function openaiEmbeddings(
  outbound: Outbound,
  pathOf: EndpointPaths,
  quirks: Quirks = NO_QUIRKS,
): EmbeddingUpstream {
  return {
    maxInputs: null,
    unsupported: ({ inputs }) =>
      inputs.every(({ text, tokens }) => text !== null || tokens !== null)
        ? null
        : "expected one text part for each content, as this model's vendor takes texts only",
    dropped: ({ inputs }) => [
      ...new Set(inputs.flatMap(({ request }) => Object.keys(request ?? {}).filter((name) => !CARRIED.has(name)))),
    ],
    async embed(order, exchange) {
      const path = pathOf("/embeddings", order.model);
      const { vectors, usage } = await exchangeVectors(outbound, {
        path,
        body: bodyOf(order, quirks),
        read: (bytes, count) => readVectorList(bytes, NAMES, count),
        count: order.inputs.length,
      }, exchange);
      return { vectors, reportedTokens: isObject(usage) ? usage.prompt_tokens ?? usage.total_tokens ?? null : null };
    },
  };
}

function bodyOf({ model, inputs, dimensions, encoding, extras }: EmbeddingOrder, quirks: Quirks): JsonObject {
  const [first] = inputs;
  const isOther = quirks.has("output_dimension");
  return {
    ...extras,
    model,
    // One input is sent as such, as most clients do.
    input: inputs.length === 1 && first !== undefined ? valueOf(first) : inputs.map(valueOf),
    ...dimensions !== null && { [isOther ? "output_dimension" : "dimensions"]: dimensions },
    ...encoding !== null && !(isOther && encoding === "float") && { encoding_format: encoding },
  };
}

const valueOf = ({ text, tokens }: EmbeddingInput) => text ?? tokens;
