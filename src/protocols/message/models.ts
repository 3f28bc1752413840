import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import { type CatalogFor, catalogHandlers } from "../../vendors/catalog/listing.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import {
  writeArchitecture,
  writePriceOverrides,
  writePricing,
  writeRedirect,
  writeTopProvider,
} from "../../vendors/catalog/written.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Route } from "../../platform/http/request/inbound.ts";
import { routesAt } from "../route_at.ts";
import { capabilitiesOf, claudeFamilyOf, type MessageService } from "./capabilities.ts";

const MAX_PAGE_SIZE = 1000;

/** Returns how the providers of a model serve callers of the message protocol. */
export type ServiceOf = (model: Model) => MessageService;

/** `GET /msgcompat/v1/models`, also followed by a provider, or by a provider and a model. */
export function messageModelRoutes(
  catalog: DatedCatalog,
  serviceOf: ServiceOf,
  catalogFor?: CatalogFor,
): Route[] {
  const style = {
    protocol: "message",
    writeModel: (model: Model) => writeMessageModel(model, serviceOf(model)),
    writeList: (data: readonly unknown[], models: readonly Model[]) => listOf(data, models, false),
    writePage: writeMessagePage,
  } as const;
  const { list, one } = catalogHandlers(catalog, style, catalogFor);
  return [...routesAt(ENDPOINTS.listMessageModels, list), ...routesAt(ENDPOINTS.readMessageModels, one)];
}

/**
 * A model in the message style, with the fields of the vendor's clients. A model with an end date counts as deprecated.
 * Source: docs/api/models.md#message-style; Messages API reference, "Models", `ModelInfo`.
 */
function writeMessageModel(model: Model, service: MessageService): Record<string, unknown> {
  const changes = writePriceOverrides(model);
  const redirect = writeRedirect(model);
  return {
    type: "model",
    id: model.id,
    display_name: model.name,
    created_at: new Date(model.created * 1000).toISOString().replace(".000Z", "Z"),
    max_input_tokens: model.topProvider.contextLength || null,
    max_tokens: model.topProvider.maxCompletionTokens || null,
    capabilities: capabilitiesOf(model, service),
    lifecycle: lifecycleOf(model),
    line: claudeFamilyOf(model),
    deprecated_at: null,
    retires_at: model.expirationDate === null ? null : `${model.expirationDate}T00:00:00Z`,
    owned_by: model.ownedBy,
    canonical_slug: model.canonicalSlug,
    description: model.description,
    context_length: model.contextLength,
    architecture: writeArchitecture(model.architecture),
    pricing: writePricing(model),
    top_provider: writeTopProvider(model.topProvider),
    supported_parameters: model.supportedParameters,
    expiration_date: model.expirationDate,
    ...changes !== null && { pricing_overrides: changes },
    ...redirect !== null && { redirected_to: redirect },
  };
}

function lifecycleOf({ expirationDate }: Model): "active" | "deprecated" {
  return expirationDate === null ? "active" : "deprecated";
}

/**
 * The page that the query requests: at most `limit` models after `after_id`, or the last ones before `before_id`, in
 * the stages of `lifecycle`. An unknown id and an invalid limit are ignored. Without a limit the list is complete.
 * Sources: docs/api/models.md#message-style; Messages API reference, "List models".
 */
function writeMessagePage(
  written: readonly unknown[],
  listed: readonly Model[],
  query: URLSearchParams,
): unknown | null {
  const stages = [...query.getAll("lifecycle"), ...query.getAll("lifecycle[]")];
  const isWanted = (model: Model) => stages.length === 0 || stages.includes(lifecycleOf(model));
  const models = listed.filter(isWanted);
  const data = listed.flatMap((model, index) => isWanted(model) ? [written[index]] : []);
  const position = (name: string) => models.findIndex(({ id }) => id === query.get(name));
  const after = position("after_id");
  const before = position("before_id");
  const limit = limitOf(query.get("limit"));
  if (after < 0 && before < 0 && limit === null && stages.length === 0) return null;
  const most = limit ?? models.length;
  if (before >= 0) {
    const start = Math.max(0, before - most);
    return listOf(data.slice(start, before), models.slice(start, before), start > 0);
  }
  const [start, end] = [after + 1, after + 1 + most];
  return listOf(data.slice(start, end), models.slice(start, end), end < models.length);
}

/** Official clients use the three fields besides `data` for paging. */
function listOf(data: readonly unknown[], models: readonly Model[], has_more: boolean): unknown {
  return { data, has_more, first_id: models.at(0)?.id ?? null, last_id: models.at(-1)?.id ?? null };
}

function limitOf(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Math.min(Number(text), MAX_PAGE_SIZE) : null;
}
