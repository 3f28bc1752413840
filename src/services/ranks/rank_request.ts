import { measureTexts, type TextMeasure } from "../calls/text_measure.ts";
import { capableModels } from "../../vendors/catalog/capable_models.ts";
import type { CapabilitySections } from "../../vendors/catalog/sections/capability_schemas.ts";
import type { Catalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { isObject } from "../../conversation/neutral/wire_value.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { readBodyPin } from "../../vendors/routing/pin.ts";
import type { RankOrder } from "../../vendors/upstreams/contract/rank_upstream.ts";

/** A model that ranks documents. */
export type RankModel = Model & Required<Pick<CapabilitySections, "rerank">>;

/** A request to rank documents. */
export interface RankRequest extends Omit<RankOrder, "model"> {
  /** The model, then the fallbacks that are tried if all of its providers fail. */
  readonly models: readonly RankModel[];
  /** The model as the caller named it. */
  readonly modelName: string;
  /** Whether the response repeats the documents. */
  readonly returnsDocuments: boolean;
  /** The query is part of each text. */
  readonly measure: TextMeasure;
  readonly bodyPin: string | null;
  /** The fields that no vendor is sent. */
  readonly droppedFields: readonly string[];
}

const READ: ReadonlySet<string> = new Set([
  "model",
  "query",
  "documents",
  "top_n",
  "return_documents",
  "extra_body",
]);

/** Further fields of vendors. Sources: API references of Cohere, Jina, Voyage and vLLM, "Rerank". */
const EXTRAS: ReadonlySet<string> = new Set([
  "max_tokens_per_doc",
  "max_chunks_per_doc",
  "truncation",
  "truncate",
  "truncate_prompt_tokens",
  "user",
]);

/**
 * Reads the body of `POST /v1/rerank`. Source: docs/api/rerank.md#request.
 *
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`.
 */
export function readRankRequest(body: { readonly [key: string]: unknown }, catalog: Catalog): RankRequest {
  const modelName = typeof body.model === "string" ? body.model : "";
  const models = capableModels(catalog, modelName, { isCapable: isRankModel, does: "rank documents" });
  const { query } = body;
  if (typeof query !== "string" || query === "") throw invalidField("query", "expected text");
  const documents = documentsOf(body.documents, models[0].rerank.maxDocuments);
  const others = Object.keys(body).filter((name) => !READ.has(name));
  return {
    models: models.filter(({ rerank }) => documents.length <= rerank.maxDocuments),
    modelName,
    query,
    documents,
    count: countOf(body.top_n, documents.length),
    extras: Object.fromEntries(others.filter((name) => EXTRAS.has(name)).map((name) => [name, body[name]])),
    returnsDocuments: flagOf(body.return_documents),
    measure: measureOf(query, documents),
    bodyPin: readBodyPin(body),
    droppedFields: others.filter((name) => !EXTRAS.has(name)),
  };
}

function isRankModel(model: Model): model is RankModel {
  return model.rerank !== undefined;
}

function documentsOf(value: unknown, maxDocuments: number): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) throw invalidField("documents", "expected a list of texts");
  if (value.length > maxDocuments) {
    throw invalidField("documents", `expected at most ${maxDocuments} documents, got ${value.length}`);
  }
  return value.map((document: unknown, nth) => {
    const text = isObject(document) ? document.text : document;
    if (typeof text === "string") return text;
    throw invalidField(`documents[${nth}]`, "expected text, or an object with text");
  });
}

function countOf(value: unknown, documents: number): number {
  if (value === undefined || value === null) return documents;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
    throw invalidField("top_n", "expected a whole number of at least 1");
  }
  return Math.min(value, documents);
}

function flagOf(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw invalidField("return_documents", "expected true or false");
}

/** A model reads the query with each document. */
function measureOf(query: string, documents: readonly string[]): TextMeasure {
  const measure = measureTexts(documents);
  const { bytes, characters } = measureTexts([query]);
  measure.bytes += bytes * documents.length;
  measure.characters += characters * documents.length;
  return measure;
}
