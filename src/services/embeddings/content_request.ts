import type { Catalog } from "../../vendors/catalog/catalog.ts";
import { isObject } from "../../conversation/neutral/wire_value.ts";
import { bareModelName } from "../../platform/names/bare_model_name.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { EmbeddingInput } from "../../vendors/upstreams/contract/embedding_upstream.ts";
import { dimensionsOf } from "./default_request.ts";
import { embeddingModels, type EmbeddingRequest } from "./embedding_request.ts";

/**
 * Reads the body of `:embedContent`. Source: Gemini API reference, "Embeddings".
 *
 * @param modelName The model in the path.
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`.
 */
export function readEmbedContent(body: JsonObject, modelName: string, catalog: Catalog): EmbeddingRequest {
  const models = embeddingModels(catalog, modelName, { count: 1, inputField: "content" });
  const inputs = [inputOf("", body, modelName)];
  return { ...FIXED, models, modelName, inputs, dimensions: dimensionsIn("", body), inputField: "content" };
}

/** Reads the body of `:batchEmbedContents`, as {@linkcode readEmbedContent}. */
export function readBatchEmbedContents(body: JsonObject, modelName: string, catalog: Catalog): EmbeddingRequest {
  const { requests } = body;
  if (!Array.isArray(requests) || requests.length === 0) {
    throw invalidField("requests", "expected a list of at least one request");
  }
  const models = embeddingModels(catalog, modelName, { count: requests.length, inputField: "requests" });
  const read = requests.map((request: unknown, nth) => {
    const path = `requests[${nth}]`;
    if (!isObject(request)) throw invalidField(path, "expected an object");
    const dimensions = dimensionsIn(`${path}.`, request);
    return { input: inputOf(`${path}.`, request, modelName), dimensions };
  });
  const [first] = read;
  const dimensions = first?.dimensions ?? null;
  const odd = read.findIndex((each) => each.dimensions !== dimensions);
  if (odd >= 0) throw invalidField(`requests[${odd}].outputDimensionality`, "expected the same for all requests");
  const inputs = read.map(({ input }) => input);
  return { ...FIXED, models, modelName, inputs, dimensions, inputField: "requests" };
}

const FIXED = {
  encoding: null,
  replyEncoding: "float",
  extras: {},
  bodyPin: null, // A pin in this protocol's body is ignored: docs/api/routing.md#pin.
  droppedFields: [],
} as const;

/** Both spellings are those of the vendor's own JSON. */
function dimensionsIn(path: string, request: JsonObject): number | null {
  const name = "output_dimensionality" in request ? "output_dimensionality" : "outputDimensionality";
  return dimensionsOf(`${path}${name}`, request[name]);
}

function inputOf(path: string, request: JsonObject, modelName: string): EmbeddingInput {
  const { model, ...rest } = request;
  if (model !== undefined && (typeof model !== "string" || bareModelName(model) !== bareModelName(modelName))) {
    throw invalidField(`${path}model`, "expected the model of the path");
  }
  const { content } = rest;
  if (!isObject(content) || !Array.isArray(content.parts) || content.parts.length === 0) {
    throw invalidField(`${path}content`, "expected an object with a list of parts");
  }
  const { parts } = content;
  const odd = parts.findIndex((part) => !isObject(part) || (part.text !== undefined && typeof part.text !== "string"));
  if (odd >= 0) throw invalidField(`${path}content.parts[${odd}]`, "expected an object, with its text as a string");
  const [part] = parts;
  const isText = parts.length === 1 && typeof part.text === "string";
  return { text: isText ? part.text : null, tokens: null, request: rest };
}
