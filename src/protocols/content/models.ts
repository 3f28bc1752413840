import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import { type CatalogFor, catalogHandlers } from "../../vendors/catalog/listing.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import {
  outputLimitOf,
  writeArchitecture,
  writePriceOverrides,
  writePricing,
  writeRedirect,
  writeTopProvider,
} from "../../vendors/catalog/written.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { type Handler, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { routesAt } from "../route_at.ts";

const MAX_PAGE_SIZE = 1000;

/** `GET /gencompat/v1beta/models`, also followed by a provider, or by a provider and a model. */
export function contentModelRoutes(
  catalog: DatedCatalog,
  catalogFor?: CatalogFor,
): Route[] {
  const style = {
    protocol: "content",
    writeModel: writeContentModel,
    writeList: (models: readonly unknown[]) => ({ models }),
    writePage: writeContentPage,
  } as const;
  const { list, one } = catalogHandlers(catalog, style, catalogFor);
  return [...routesAt(ENDPOINTS.listContentModels, list), ...routesAt(ENDPOINTS.readContentModels, withVerbs(one))];
}

/** The verbs of this protocol, such as `generateContent`. */
const VERBS = new Set(Object.values(ENDPOINTS).map(({ path }) => /:model\*:(\w+)$/.exec(path)?.[1]));

/** An address with a verb looks like that of a model, whose name may contain a colon. It is called with `POST`. */
function withVerbs(one: Handler): Handler {
  return async (inbound) => {
    try {
      return await one(inbound);
    } catch (error) {
      const verb = /:(\w+)$/.exec(pathParam(inbound.params, "model"))?.[1];
      if (verb === undefined || !VERBS.has(verb) || !isUnknownModel(error)) throw error;
      const allow = ["POST"];
      throw new GatewayError("method_not_allowed", "Cannot serve this method here: expected POST, got GET", { allow });
    }
  };
}

function isUnknownModel(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "model_not_found";
}

/**
 * A model in the content style: camelCase outside, snake_case inside. Source: docs/api/models.md#content-style; of
 * `thinking` and the defaults: Gemini API reference, "Models".
 */
function writeContentModel(model: Model): Record<string, unknown> {
  const changes = writePriceOverrides(model, pricingOf);
  const redirect = writeRedirect(model);
  return {
    name: `models/${model.id}`,
    version: versionOf(model),
    displayName: model.name,
    description: model.description,
    inputTokenLimit: model.topProvider.contextLength,
    outputTokenLimit: outputLimitOf(model.topProvider),
    contextLength: model.contextLength,
    supportedGenerationMethods: methodsOf(model),
    ownedBy: model.ownedBy,
    canonicalSlug: model.canonicalSlug,
    architecture: writeArchitecture(model.architecture),
    pricing: pricingOf(model),
    topProvider: writeTopProvider(model.topProvider),
    supportedParameters: model.supportedParameters,
    expirationDate: model.expirationDate,
    thinking: model.supportedParameters.includes("reasoning"),
    ...changes !== null && { pricingOverrides: changes },
    ...redirect !== null && { redirectedTo: redirect },
    ...defaultSamplingOf(model),
  };
}

/** The model's default sampling settings, if configured. */
function defaultSamplingOf({ defaultParameters }: Model): Record<string, number> {
  const { temperature, top_p: topP, top_k: topK } = defaultParameters ?? {};
  const written = Object.entries({ temperature, topP, topK });
  return Object.fromEntries(written.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
}

/** The part of the permanent slug after the id (`2025-12`), else `001`, the name of a first version in this style. */
function versionOf({ id, canonicalSlug }: Model): string {
  return canonicalSlug.startsWith(`${id}-`) ? canonicalSlug.slice(id.length + 1) : "001";
}

function methodsOf(model: Model): readonly string[] {
  const methods = ["generateContent", "streamGenerateContent", "countTokens"];
  if (model.embedding !== undefined && !model.text) return ["embedContent", "batchEmbedContents"];
  return model.text ? [...methods, "createCachedContent"] : methods;
}

/** Caches of this protocol are billed by `input_cache_write`, so that key is present if writes have a price. */
function pricingOf(model: Model): Record<string, string> {
  const pricing = writePricing(model);
  const write = model.pricing.input_cache_write ?? model.pricing.input_cache_write_5m;
  return write === undefined ? pricing : { ...pricing, input_cache_write: write };
}

/** The page that `pageSize` requests. `pageToken` is the name that the next page starts after. */
function writeContentPage(
  written: readonly unknown[],
  models: readonly Model[],
  query: URLSearchParams,
): unknown | null {
  const size = query.get("pageSize") ?? query.get("page_size");
  if (size === null || !/^[1-9]\d{0,8}$/.test(size)) return null;
  const start = startOf(models, query.get("pageToken") ?? query.get("page_token") ?? "");
  const end = start + Math.min(Number(size), MAX_PAGE_SIZE);
  const page = { models: written.slice(start, end) };
  return end < models.length ? { ...page, nextPageToken: btoa(elementAt(models, end - 1).id) } : page;
}

function startOf(models: readonly Model[], token: string): number {
  if (token === "") return 0;
  const last = models.findIndex(({ id }) => btoa(id) === token);
  if (last < 0) throw invalidField("pageToken", "expected the nextPageToken of an earlier page");
  return last + 1;
}
