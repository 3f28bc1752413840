import type { Catalog } from "../../catalog/catalog.ts";
import { catalogRoutes } from "../../catalog/listing.ts";
import type { Model } from "../../catalog/model.ts";
import { writeArchitecture, writePricing, writeTopProvider } from "../../catalog/written.ts";
import type { ErrorRenderer, Route } from "../../http/inbound.ts";

const MOST_PER_PAGE = 1000;

/** `GET /msgcompat/v1/models`, with a provider behind it, with a provider and a model behind it. */
export function messageModelRoutes(catalog: Catalog, renderError: ErrorRenderer): Route[] {
  const style = {
    protocol: "message",
    path: "/msgcompat/v1/models",
    writeModel: writeMessageModel,
    writeList: (data: readonly unknown[], models: readonly Model[]) => listOf(data, models, false),
    writePage: writeMessagePage,
  } as const;
  return catalogRoutes(catalog, style, renderError);
}

/** One model in the message style. Source: SPEC "Model objects". */
export function writeMessageModel(model: Model): Record<string, unknown> {
  return {
    type: "model",
    id: model.id,
    display_name: model.name,
    created_at: new Date(model.created * 1000).toISOString().replace(".000Z", "Z"),
    owned_by: model.ownedBy,
    canonical_slug: model.canonicalSlug,
    description: model.description,
    context_length: model.contextLength,
    architecture: writeArchitecture(model.architecture),
    pricing: writePricing(model),
    top_provider: writeTopProvider(model.topProvider),
    supported_parameters: model.supportedParameters,
    expiration_date: model.expirationDate,
  };
}

/**
 * The part of the list that a client's paging asks for: at most `limit` models behind `after_id`, or the last of those
 * before `before_id`. An unknown id and a limit that is no positive number are passed over. A list that is shown
 * without a limit ends where it ends, as SPEC's does. Source: Messages API reference, "List models".
 */
function writeMessagePage(data: readonly unknown[], models: readonly Model[], query: URLSearchParams): unknown | null {
  const position = (name: string) => models.findIndex(({ id }) => id === query.get(name));
  const after = position("after_id");
  const before = position("before_id");
  const limit = limitOf(query.get("limit"));
  if (after < 0 && before < 0 && limit === null) return null;
  const most = limit ?? models.length;
  if (before >= 0) {
    const start = Math.max(0, before - most);
    return listOf(data.slice(start, before), models.slice(start, before), start > 0);
  }
  const [start, end] = [after + 1, after + 1 + most];
  return listOf(data.slice(start, end), models.slice(start, end), end < models.length);
}

/** The three fields beside `data` are what official clients page by. */
function listOf(data: readonly unknown[], models: readonly Model[], has_more: boolean): unknown {
  return { data, has_more, first_id: models.at(0)?.id ?? null, last_id: models.at(-1)?.id ?? null };
}

function limitOf(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Math.min(Number(text), MOST_PER_PAGE) : null;
}
