import type { Alias } from "../../vendors/catalog/alias.ts";
import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import {
  writeArchitecture,
  writePriceOverrides,
  writePricing,
  writeRedirect,
  writeVideo,
} from "../../vendors/catalog/written.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { factLayers, type StatedFacts } from "../../conversation/models/known_models.ts";
import { writeFacts } from "../../conversation/facts/fact_names.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import type { ReadJson } from "./accounts.ts";
import { PAGE_PARAMETERS, readPage } from "./shared/query.ts";
import { priceHandler } from "./price.ts";

/** The dependencies of the models endpoint. */
export interface AdminModelOptions {
  /** The catalog as it is now, in the operator's order. */
  readonly catalog: DatedCatalog;
  readonly aliases: readonly Alias[];
  /** What the configuration states about the models of each provider, by its name. */
  readonly providers: Readonly<Record<string, StatedFacts>>;
  /** The models with which the vendors of providers answer in the place of others, by the provider's name. */
  readonly answering: (provider: string) => StatedFacts["answering"];
  readonly readJson: ReadJson;
}

/**
 * `GET /admin/v1/models?limit&after`: every model with its prices, its providers and its other names; and the
 * calculator of {@linkcode priceHandler}.
 */
export function adminModelRoutes(
  { catalog, aliases, providers, answering, readJson }: AdminModelOptions,
): AdminRoute[] {
  return [
    adminRoute(OPERATOR_ENDPOINTS.calculatePrice, priceHandler({ catalog, readJson }), {
      role: "read",
      isAudited: false,
    }),
    adminRoute(OPERATOR_ENDPOINTS.listAdminModels, ({ query, receivedAt }) => {
      const { limit, after = "0" } = readPage(query);
      if (!/^\d{1,9}$/.test(after)) throw invalidField("after", 'expected the "next" of an earlier page');
      const [start, { models }] = [Number(after), catalog.at(receivedAt)];
      const data = models.slice(start, start + limit).map((model) =>
        writeModel(model, { aliases, providers, answering })
      );
      return answerJson({ data, next: start + limit < models.length ? String(start + limit) : null });
    }, { parameters: PAGE_PARAMETERS }),
  ];
}

function writeModel(
  model: Model,
  { aliases, providers, answering: answeringAt }: Pick<AdminModelOptions, "aliases" | "providers" | "answering">,
): JsonObject {
  const { id, canonicalSlug, name, description, contextLength, architecture, serves, fallbacks } = model;
  return {
    id,
    name,
    description,
    context_length: contextLength,
    architecture: writeArchitecture(architecture),
    pricing: writePricing(model),
    pricing_overrides: writePriceOverrides(model) ?? [],
    redirected_to: writeRedirect(model),
    expiration_date: model.expirationDate,
    providers: serves.map((serving) => {
      const answering = answeringAt(serving.provider);
      return {
        provider: serving.provider,
        model: serving.model,
        weight: serving.weight,
        answered_by: answering?.current(serving.model)?.name ?? null,
        facts: writeLayers(model, serving.model, {
          ...ownValue(providers, serving.provider),
          name: serving.provider,
          ...answering !== undefined && { answering },
        }),
      };
    }),
    aliases: aliases.filter((alias) => alias.model === id || alias.model === canonicalSlug).map((alias) => alias.name),
    fallbacks: [...fallbacks],
    video: writeVideo(model),
  };
}

/** What is known of a text model at a provider, and where it comes from. Later entries override earlier ones. */
function writeLayers(model: Model, name: string, provider: StatedFacts): JsonObject[] {
  if (!model.architecture.outputModalities.includes("text")) return [];
  const layers = factLayers(name, model, provider).map(({ source, facts }) => ({ source, facts: writeFacts(facts) }));
  return layers.filter(({ facts }) => Object.keys(facts).length > 0);
}
