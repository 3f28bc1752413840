import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { Catalog } from "./catalog.ts";
import type { Model } from "./model.ts";
import { endpointsServing } from "./model_endpoints.ts";
import { displayName, modelNotFound } from "./model_not_found.ts";

/** What a request needs of its model. */
export interface NeededCapability<M extends Model> {
  readonly isCapable: (model: Model) => model is M;
  /** What the model must do, for errors: `make embeddings`. */
  readonly does: string;
}

/**
 * The models of a request: the named one, then its fallbacks with the same capability.
 *
 * @throws {GatewayError} `model_not_found`; `invalid_request` for no name, and for a model without the capability, with
 * the endpoints that serve it.
 */
export function capableModels<M extends Model>(
  catalog: Catalog,
  name: string,
  { isCapable, does }: NeededCapability<M>,
): readonly [M, ...M[]] {
  if (name === "") throw invalidField("model", `expected the id of a model that can ${does}`);
  const named = catalog.named(name);
  if (named === null) throw modelNotFound(catalog, name, isCapable);
  const { model, fallbacks } = named;
  if (isCapable(model)) return [model, ...fallbacks.filter(isCapable)];
  const paths = endpointsServing(model);
  throw invalidField("model", `"${displayName(model.id)}" does not ${does}; it is served by ${paths}`);
}
