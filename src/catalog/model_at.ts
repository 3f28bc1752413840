import { readTariff } from "../billing/tariff.ts";
import type { Model, Serving } from "./model.ts";
import { type PriceList, priceListAt, tierTariffs } from "./price_list.ts";

/** A vendor's name of a model at a provider, and the model of the catalog that it stands for; null if there is none. */
export type ServedAs = (provider: string, name: string) => Model | null;

/**
 * The moments at which prices or redirects of models change, in Unix milliseconds: each once, the first one first.
 * Between two of them, nothing changes.
 */
export function momentsOf(models: Iterable<Model>): readonly number[] {
  const moments = new Set<number>();
  const addAll = (dated: readonly { readonly from: number }[]) => dated.forEach(({ from }) => moments.add(from));
  for (const { priceChanges, tierPrices, redirect } of models) {
    addAll(priceChanges);
    for (const { changes } of Object.values(tierPrices)) addAll(changes);
    if (redirect !== null) addAll([redirect]);
  }
  return [...moments].sort((one, other) => one - other);
}

/**
 * A model with the prices of requests that began at a moment; the changes that are left are still to come. The model
 * itself if none is due. It does not follow redirects.
 *
 * @param at Unix milliseconds.
 */
export function pricedAt(model: Model, at: number): Model {
  const isDue = ({ changes }: Pick<PriceList, "changes">) => changes.some(({ from }) => from <= at);
  const own: PriceList = { pricing: model.pricing, changes: model.priceChanges };
  if (!isDue(own) && !Object.values(model.tierPrices).some(isDue)) return model;
  const { pricing, changes } = priceListAt(own, at);
  const tierPrices = Object.fromEntries(
    Object.entries(model.tierPrices).map(([tier, list]) => [tier, priceListAt(list, at)]),
  );
  return {
    ...model,
    pricing,
    priceChanges: changes,
    tariff: readTariff(pricing),
    tierPrices,
    tiers: tierTariffs(pricing, tierPrices),
    video: model.video && { ...model.video, pricePerSecond: secondPricesAt(model, at) },
  };
}

function secondPricesAt({ video, priceChanges }: Model, at: number): Readonly<Record<string, string>> {
  const due = priceChanges.filter(({ from }) => from <= at).map(({ pricePerSecond }) => pricePerSecond);
  return Object.assign({}, video?.pricePerSecond, ...due);
}

/**
 * A model as its vendor answers for it at a moment. If the vendor answers with another model, it has the properties and
 * the prices of that one, and is requested by that one's name at the providers that serve both. Its id, its names, its
 * providers and its fallbacks stay its own. A redirect to a model that no provider of it serves has no effect.
 *
 * @param at Unix milliseconds.
 * @param servedAs The models with the prices of that moment.
 */
export function redirectedAt(model: Model, at: number, servedAs: ServedAs): Model {
  if (model.redirect === null) return model;
  const answering = answeringModel(model, at, servedAs);
  const redirect = { ...model.redirect, model: targetOf(model, servedAs)?.id ?? null };
  if (answering === model) return { ...model, redirect };
  const { id, canonicalSlug, name, description, created, ownedBy, expirationDate, fallbacks } = model;
  return {
    ...answering,
    id,
    canonicalSlug,
    name,
    description,
    created,
    ownedBy,
    expirationDate,
    redirect,
    serves: model.serves.map((serving) => servingOf(serving, answering)),
    fallbacks,
  };
}

/** The model at the end of a chain of redirects. A circle ends where it would begin again. */
function answeringModel(model: Model, at: number, servedAs: ServedAs): Model {
  const seen = new Set<Model>();
  let answering = model;
  while (answering.redirect !== null && answering.redirect.from <= at && !seen.has(answering)) {
    seen.add(answering);
    const target = targetOf(answering, servedAs);
    if (target === null) break;
    answering = target;
  }
  return answering;
}

function targetOf({ serves, redirect }: Model, servedAs: ServedAs): Model | null {
  for (const { provider } of redirect === null ? [] : serves) {
    const target = servedAs(provider, redirect?.to ?? "");
    if (target !== null) return target;
  }
  return null;
}

function servingOf(serving: Serving, answering: Model): Serving {
  const model = answering.serves.find(({ provider }) => provider === serving.provider)?.model;
  if (model === undefined) return serving;
  const { credentials } = serving;
  return { ...serving, model, ...credentials && { credentials: credentials.map((each) => ({ ...each, model })) } };
}
