import { capableModels } from "../../vendors/catalog/capable_models.ts";
import type { Catalog } from "../../vendors/catalog/catalog.ts";
import type { CapabilitySections } from "../../vendors/catalog/sections/capability_schemas.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { EmbeddingOrder } from "../../vendors/upstreams/contract/embedding_upstream.ts";

/** A model that makes embeddings. */
export type EmbeddingModel = Model & Required<Pick<CapabilitySections, "embedding">>;

/** A request for embeddings, independent of the caller's format. */
export interface EmbeddingRequest extends Omit<EmbeddingOrder, "model"> {
  /** The model, then the fallbacks that are tried if all of its providers fail. */
  readonly models: readonly EmbeddingModel[];
  /** The model as the caller named it. */
  readonly modelName: string;
  /** The encoding of the response. */
  readonly replyEncoding: "float" | "base64";
  /** The field of the inputs, for errors. */
  readonly inputField: string;
  readonly bodyPin: string | null;
  /** The fields that no vendor is sent. */
  readonly droppedFields: readonly string[];
}

/**
 * The models of a request: the named one, then its fallbacks that accept as many inputs.
 *
 * @param inputField The field of the inputs, for errors.
 * @throws {GatewayError} `model_not_found`; `invalid_request` for a model that makes no embeddings, or takes fewer
 * inputs.
 */
export function embeddingModels(
  catalog: Catalog,
  name: string,
  { count, inputField }: { readonly count: number; readonly inputField: string },
): readonly EmbeddingModel[] {
  const [model, ...fallbacks] = capableModels(catalog, name, { isCapable: isEmbeddingModel, does: "make embeddings" });
  const { maxInputs } = model.embedding;
  if (count > maxInputs) throw invalidField(inputField, `expected at most ${maxInputs} inputs, got ${count}`);
  return [model, ...fallbacks.filter(({ embedding }) => count <= embedding.maxInputs)];
}

function isEmbeddingModel(model: Model): model is EmbeddingModel {
  return model.embedding !== undefined;
}
