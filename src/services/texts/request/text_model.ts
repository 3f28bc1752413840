import type { Catalog, NamedModel } from "../../../vendors/catalog/catalog.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { endpointsServing } from "../../../vendors/catalog/model_endpoints.ts";
import { modelNotFound } from "../../../vendors/catalog/model_not_found.ts";
import type { CallerFormat } from "../../../conversation/contract/caller_format.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";

/** The property of a caller's format that determines which models it can use. */
type ServingFormat = Pick<CallerFormat, "servesImageModels">;

/**
 * Returns the model of a request for text and its fallback models that support text.
 *
 * @param format The caller's format.
 * @throws {GatewayError} `model_not_found`; `invalid_request` that names the endpoint of the model.
 */
export function namedTextModel(catalog: Catalog, name: string, format: ServingFormat): NamedModel {
  const named = catalog.named(name);
  if (named === null) throw modelNotFound(catalog, name, (model) => talks(model, format));
  const { model, fallbacks } = named;
  if (!talks(model, format)) {
    throw invalidField("model", `"${model.id}" does not support text; it is served by ${endpointsServing(model)}`);
  }
  return fallbacks.length === 0 ? named : { ...named, fallbacks: fallbacks.filter((each) => talks(each, format)) };
}

/**
 * Returns the model of a request for text.
 *
 * @throws {GatewayError} As {@linkcode namedTextModel}.
 */
export function textModel(catalog: Catalog, name: string, format: ServingFormat): Model {
  return namedTextModel(catalog, name, format).model;
}

function talks(model: Model, format: ServingFormat): boolean {
  return model.text || (format.servesImageModels && model.image?.series === "multimodal");
}
