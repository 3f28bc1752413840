import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import { writeSections } from "../../vendors/catalog/written_sections.ts";
import { type CatalogFor, catalogHandlers } from "../../vendors/catalog/listing.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import {
  writeArchitecture,
  writePriceOverrides,
  writePricing,
  writeRedirect,
  writeTopProvider,
  writeVideo,
} from "../../vendors/catalog/written.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Route } from "../../platform/http/request/inbound.ts";
import { routesAt } from "../route_at.ts";

/** `GET /v1/models`, `/v1/models/{provider}` and `/v1/models/{provider}/{model_id}`. */
export function defaultModelRoutes(
  catalog: DatedCatalog,
  catalogFor?: CatalogFor,
): Route[] {
  const style = {
    protocol: "default",
    writeModel: writeDefaultModel,
    writeList: (data: readonly unknown[]) => ({ object: "list", data }),
  } as const;
  const { list, one } = catalogHandlers(catalog, style, catalogFor);
  return [...routesAt(ENDPOINTS.listModels, list), ...routesAt(ENDPOINTS.readModels, one)];
}

/**
 * A model in the default style. Source: docs/api/models.md#default-style; of `shutdown_date`: Models API reference.
 */
function writeDefaultModel(model: Model): Record<string, unknown> {
  const video = writeVideo(model);
  const changes = writePriceOverrides(model);
  const redirect = writeRedirect(model);
  return {
    id: model.id,
    object: "model",
    created: model.created,
    owned_by: model.ownedBy,
    canonical_slug: model.canonicalSlug,
    name: model.name,
    description: model.description,
    context_length: model.contextLength,
    architecture: writeArchitecture(model.architecture),
    pricing: writePricing(model),
    top_provider: writeTopProvider(model.topProvider),
    per_request_limits: model.perRequestLimits,
    supported_parameters: model.supportedParameters,
    default_parameters: model.defaultParameters,
    expiration_date: model.expirationDate,
    ...video !== null && { video },
    ...changes !== null && { pricing_overrides: changes },
    ...redirect !== null && { redirected_to: redirect },
    ...writeSections(model),
    ...model.expirationDate !== null && { shutdown_date: model.expirationDate },
  };
}
