import type { Model, Serving } from "./model.ts";
import { isRecurring, isTimeMet } from "./prices/price_conditions.ts";
import { pricesAt } from "./prices/price_list.ts";

/** A vendor's name of a model at a provider, and the model of the catalog that it stands for; null if there is none. */
export type ServedAs = (provider: string, name: string) => Model | null;

/** When prices and redirects of models change. */
export interface PriceTimes {
  /** Dates, in Unix milliseconds: each once, the first one first. */
  readonly moments: readonly number[];
  /** Whether some prices change within each day. */
  readonly areRecurring: boolean;
}

/** When prices and redirects of models change. */
export function timesOf(models: Iterable<Model>): PriceTimes {
  const moments = new Set<number>();
  let areRecurring = false;
  for (const { prices, redirect } of models) {
    for (const { overrides } of [prices, ...Object.values(prices.tiers)]) {
      for (const each of overrides) {
        areRecurring ||= isRecurring(each);
        for (const moment of [each.from, each.until]) if (moment !== null) moments.add(moment);
      }
    }
    if (redirect !== null) moments.add(redirect.from);
  }
  return { moments: [...moments].sort((one, other) => one - other), areRecurring };
}

/** Which hours hold at a moment, as a text that is equal if the same ones hold; empty if none does. */
export function heldHoursOf(models: readonly Model[], at: number): string {
  const held: string[] = [];
  models.forEach(({ prices }, index) => {
    for (const [tier, { overrides }] of [["", prices] as const, ...Object.entries(prices.tiers)]) {
      overrides.forEach((each, place) => {
        if (isRecurring(each) && isTimeMet(each, at)) held.push(`${index}${tier}:${place}`);
      });
    }
  });
  return held.join();
}

/**
 * A model with the prices of small requests that began at a moment. The model itself if they are those that it has. It
 * does not follow redirects.
 *
 * @param at Unix milliseconds.
 */
export function pricedAt(model: Model, at: number): Model {
  const { prices, video } = model;
  if (prices.overrides.length === 0 && Object.keys(prices.tiers).length === 0) return model;
  if (model.pricedAt === at) return model;
  const { pricing, tariff, pricePerSecond } = pricesAt(prices, at);
  return {
    ...model,
    pricing,
    pricedAt: at,
    tariff,
    video: video && { ...video, pricePerSecond: { ...video.pricePerSecond, ...pricePerSecond } },
  };
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
  const { promptCaching: _caching, preferWarmMs: _warm, ...answered } = answering;
  return {
    ...answered,
    id,
    canonicalSlug,
    name,
    description,
    created,
    ownedBy,
    expirationDate,
    redirect,
    serves: model.serves.map((serving) => servingOf(serving, answering)),
    ...cachingOf(model),
    fallbacks,
  };
}

/** What the operator says about prompt caches, which belongs to the model that callers name. */
function cachingOf({ promptCaching, preferWarmMs }: Model): Pick<Model, "promptCaching" | "preferWarmMs"> {
  return {
    ...promptCaching !== undefined && { promptCaching },
    ...preferWarmMs !== undefined && { preferWarmMs },
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
