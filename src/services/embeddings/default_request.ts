import type { Catalog } from "../../vendors/catalog/catalog.ts";
import { MAX_DIMENSIONS } from "../../vendors/catalog/sections/capability_sections.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { readBodyPin } from "../../vendors/routing/pin.ts";
import type { EmbeddingInput } from "../../vendors/upstreams/contract/embedding_upstream.ts";
import { embeddingModels, type EmbeddingRequest } from "./embedding_request.ts";

/** The fields that are read here. */
const READ: ReadonlySet<string> = new Set(["model", "input", "dimensions", "encoding_format", "extra_body"]);

/**
 * Further fields that vendors of this format have, which change the vectors and not what is billed. Others are dropped.
 * Sources: API references of OpenAI, Mistral, Cohere, Jina, Voyage, NVIDIA and vLLM, "Embeddings".
 */
const EXTRAS: ReadonlySet<string> = new Set([
  "user",
  "input_type",
  "task",
  "truncate",
  "truncation",
  "truncate_prompt_tokens",
  "late_chunking",
  "normalized",
  "normalize",
  "add_special_tokens",
]);

const MAX_TOKEN_ID = 2 ** 31 - 1;

/**
 * Reads the body of `POST /v1/embeddings`. Source: docs/api/embeddings.md#request.
 *
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`.
 */
export function readEmbeddingRequest(body: { readonly [key: string]: unknown }, catalog: Catalog): EmbeddingRequest {
  const modelName = typeof body.model === "string" ? body.model : "";
  const encoding = encodingOf(body.encoding_format);
  const others = Object.keys(body).filter((name) => !READ.has(name));
  // The number of inputs is checked before each is read.
  const count = isListOfInputs(body.input) ? body.input.length : 1;
  const models = embeddingModels(catalog, modelName, { count, inputField: "input" });
  return {
    models,
    modelName,
    inputs: inputsOf(body.input),
    dimensions: dimensionsOf("dimensions", body.dimensions),
    encoding,
    replyEncoding: encoding ?? "float",
    inputField: "input",
    bodyPin: readBodyPin(body),
    extras: Object.fromEntries(others.filter((name) => EXTRAS.has(name)).map((name) => [name, body[name]])),
    droppedFields: others.filter((name) => !EXTRAS.has(name)),
  };
}

/**
 * Reads the requested length of vectors; null if none is requested.
 *
 * @param field The field, for the error.
 * @throws {GatewayError} `invalid_request`.
 */
export function dimensionsOf(field: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_DIMENSIONS) return value;
  throw invalidField(field, `expected a whole number from 1 to ${MAX_DIMENSIONS}`);
}

function encodingOf(value: unknown): "float" | "base64" | null {
  if (value === undefined || value === null) return null;
  if (value === "float" || value === "base64") return value;
  throw invalidField("encoding_format", "expected float or base64");
}

/** Whether the value is a list of inputs, and not the token ids of one. */
function isListOfInputs(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && typeof value[0] !== "number";
}

function inputsOf(value: unknown): readonly EmbeddingInput[] {
  if (!isListOfInputs(value)) return [inputOf("input", value)];
  if (value.length === 0) throw invalidField("input", "expected at least one input");
  return value.map((each, nth) => inputOf(`input[${nth}]`, each));
}

function inputOf(field: string, value: unknown): EmbeddingInput {
  if (typeof value === "string") return { text: value, tokens: null, request: null };
  if (Array.isArray(value) && value.length > 0 && value.every(isTokenId)) {
    return { text: null, tokens: value, request: null };
  }
  throw invalidField(field, "expected text, or a list of token ids");
}

function isTokenId(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKEN_ID;
}
