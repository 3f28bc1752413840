import type { Catalog } from "../../../vendors/catalog/catalog.ts";
import type { ImageSection } from "../../../vendors/catalog/sections/media_schemas.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { endpointsServing } from "../../../vendors/catalog/model_endpoints.ts";
import { modelNotFound } from "../../../vendors/catalog/model_not_found.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";

/** A model that the image endpoints serve. */
export type ImageModel = Model & { readonly image: ImageSection };

/**
 * The model of a generation request. Source: docs/api/images.md#generations.
 *
 * @throws {GatewayError} `model_not_found`; `invalid_request` for a model that makes no pictures.
 */
export function generatingModel(catalog: Catalog, name: string): ImageModel {
  const model = modelNamed(catalog, name, ({ image }) => image !== null);
  if (model.image) return model as ImageModel;
  throw invalidField("model", `"${model.id}" does not make images; it is served by ${endpointsServing(model)}`);
}

/**
 * The model of an edit request. Source: docs/api/images.md#edits.
 *
 * @throws {GatewayError} `model_not_found`; `invalid_request` for a model whose series does not support edits.
 */
export function editingModel(catalog: Catalog, name: string): ImageModel {
  const model = modelNamed(catalog, name, ({ image }) => image?.edits === true);
  if (model.image?.edits) return model as ImageModel;
  throw editingUnsupported(model.id);
}

/** The error for an unsupported edit. Source: docs/api/images.md#edits. */
export function editingUnsupported(model: string): GatewayError {
  return new GatewayError("invalid_request", `Image editing is not supported for the model "${model}"`, {
    field: "model",
  });
}

function modelNamed(catalog: Catalog, name: string, isFit: (model: Model) => boolean): Model {
  if (name === "") throw invalidField("model", "expected the id of an image model");
  const model = catalog.find(name);
  if (model === null) throw modelNotFound(catalog, name, isFit);
  return model;
}
