import * as z from "zod";
import {
  type ChargeKind,
  chargingKinds,
  isChargeable,
  PRICE_NAMES,
  type PriceName,
} from "../../../money/billing/prices/tariff.ts";
import { PER_MILLION, priceOfOne } from "../../../platform/names/per_million.ts";
import { multiplyRate } from "../../../platform/lib/basics/money.ts";
import { isDate } from "../../../platform/lib/text/iso_date.ts";
import { setting } from "../../../platform/lib/settings/setting.ts";
import { boolean, distinct, wholeNumber } from "../../../platform/lib/settings/settings.ts";
import { priceKey } from "../sections/media_schemas.ts";
import { DAY_NAMES, PRICE_CONDITIONS } from "./price_conditions.ts";
import { MILLION_NAMES, price, PRICE_FIELDS } from "./price_settings.ts";
import type { PriceList, PriceOverride, Pricing } from "./price_list.ts";

const TIER = /^(?!(?:auto|default|standard|standard_only|on_demand)$)[a-z0-9][a-z0-9_-]{0,31}$/;
const TIER_EXPECTATION =
  'the name of a service tier such as priority or flex; "pricing" sets the price of the default tier';
const MOMENT_EXPECTATION = 'a date such as "2027-01-31", or a time in UTC such as "2027-01-31T08:00:00Z"';
const ORDER_EXPECTATION = "a later date than that of the entry before";
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const TIME_EXPECTATION = 'a time in UTC, such as "01:00"';
const DATE_EXPECTATION = 'a date such as "2027-01-31"';
const REGION = /^[a-z][a-z0-9-]{0,63}$/;
const REGION_EXPECTATION = 'a region in lower case, such as "us"';
const FACTOR_EXPECTATION = 'a decimal number above 0 in quotes, such as "1.1", with up to six decimals';
const CONDITION_EXPECTATION = "a condition, such as from or min_prompt_tokens";
const MAX_OVERRIDES = 64;

/** The schema of a moment: a date, which begins at midnight in UTC, or a time. Converted to Unix milliseconds. */
export const moment: z.ZodType<number> = z.string(MOMENT_EXPECTATION).refine(isDate, MOMENT_EXPECTATION)
  .transform((value) => Date.parse(value));

/** Prices as they are written: see {@linkcode writtenPricing}. */
export type WrittenPricing = WrittenPrices & { readonly overrides: readonly WrittenOverride[] };

/** Prices by their names; undefined for one that is not written. */
type WrittenPrices = { readonly [name in PriceName]?: string | undefined };

/** An entry of `overrides`: prices, and the conditions under which they apply. */
type WrittenOverride = z.infer<typeof override>;

const time = z.string(TIME_EXPECTATION).regex(TIME, TIME_EXPECTATION).transform(minutesOf);
const date = z.string(DATE_EXPECTATION).refine((value) => value.length === 10 && isDate(value), DATE_EXPECTATION);
const place = z.string(REGION_EXPECTATION).regex(REGION, REGION_EXPECTATION);

const override = z.strictObject({
  min_prompt_tokens: wholeNumber(1, 1_000_000_000, "tokens").optional(),
  utc_start: time.optional(),
  utc_end: time.optional(),
  days: distinct(z.enum(DAY_NAMES), 1).optional(),
  except: distinct(date, 1).optional(),
  from: moment.optional(),
  until: moment.optional(),
  service_tier: z.string(TIER_EXPECTATION).regex(TIER, TIER_EXPECTATION).optional(),
  region: place.optional(),
  batch: boolean().optional(),
  factor: z.string(FACTOR_EXPECTATION).refine(isFactor, FACTOR_EXPECTATION).optional(),
  ...PRICE_FIELDS,
  price_per_second: z.record(priceKey, price).default({}),
}).superRefine(refuseBadConditions).transform(withExactPrices);

/** The schema of `pricing`, and of each section of `pricing_tiers`. */
export const writtenPricing: z.ZodType<WrittenPricing> = z.strictObject({
  ...PRICE_FIELDS,
  overrides: setting(
    z.array(override, "a list of prices with the conditions under which they apply")
      .max(MAX_OVERRIDES, `at most ${MAX_OVERRIDES} entries`).superRefine(refuseUnordered),
    {
      default: [],
      text:
        "Prices under conditions, with the fields of `pricing`: [prices under conditions](#prices-under-conditions)",
      example: [{ min_prompt_tokens: 272000, prompt: "0.000004" }],
    },
  ),
}).transform(withExactPrices);

/** The schema of `pricing_tiers`: prices by the lower-case name of a service tier. */
export const writtenTiers: z.ZodType<Record<string, WrittenPricing>> = z.record(
  z.string(TIER_EXPECTATION).regex(TIER, TIER_EXPECTATION),
  writtenPricing,
);

/** The price list of a written section. */
export function priceListOf({ overrides, ...pricing }: WrittenPricing): PriceList {
  return { pricing: withoutAbsent(pricing), overrides: overrides.map(overrideOf) };
}

function overrideOf(written: WrittenOverride): PriceOverride {
  const { min_prompt_tokens, utc_start, utc_end, days, except, from, until, service_tier, ...others } = written;
  const { region, batch, factor, price_per_second: pricePerSecond, ...pricing } = others;
  return {
    minPromptTokens: min_prompt_tokens ?? null,
    hours: utc_start === undefined || utc_end === undefined ? null : { start: utc_start, end: utc_end },
    days: days?.map((day) => DAY_NAMES.indexOf(day)) ?? null,
    except: except ?? [],
    from: from ?? null,
    until: until ?? null,
    serviceTier: service_tier ?? null,
    region: region ?? null,
    batch: batch ?? null,
    pricing: withoutAbsent(pricing),
    pricePerSecond,
    factor: factor ?? null,
  };
}

function withoutAbsent(pricing: WrittenPrices): Pricing {
  return Object.fromEntries(Object.entries(pricing).filter(([, value]) => value !== undefined));
}

/** What {@linkcode refuseUnchargeable} reads of a model. */
export interface WrittenPriceLists {
  readonly pricing: WrittenPricing;
  readonly pricingTiers: Readonly<Record<string, WrittenPricing>>;
}

/**
 * Refuses prices that no endpoint of a model charges, which would be published and never applied.
 *
 * @param kinds What the model's endpoints charge.
 */
export function refuseUnchargeable(
  { pricing, pricingTiers }: WrittenPriceLists,
  kinds: readonly ChargeKind[],
  context: z.RefinementCtx,
): void {
  refuseUnused(pricing, { path: ["pricing"], kinds }, context);
  for (const [tier, prices] of Object.entries(pricingTiers)) {
    const path = ["pricing_tiers", tier];
    // Only responses of the text endpoints state their service tier.
    if (kinds.includes("text")) refuseUnused(prices, { path, kinds: ["text"] }, context);
    else context.addIssue({ code: "custom", path, message: "no tiers, as only text endpoints have them" });
  }
}

/** What vendors have batches of. */
const BATCHED_KINDS: ReadonlySet<ChargeKind> = new Set(["text", "embedding", "moderation"]);

interface Place {
  readonly path: readonly (string | number)[];
  readonly kinds: readonly ChargeKind[];
}

function refuseUnused({ overrides, ...pricing }: WrittenPricing, { path, kinds }: Place, context: z.RefinementCtx) {
  refuseUnusedNames(pricing, { path, kinds }, context);
  overrides.forEach((override, index) => {
    const at = [...path, "overrides", index];
    const note = (name: string, message: string) => context.addIssue({ code: "custom", path: [...at, name], message });
    refuseUnusedNames(pricesIn(override), { path: at, kinds }, context);
    for (const name of ["min_prompt_tokens", "service_tier", "region"] as const) {
      // Other endpoints neither count a prompt before they answer, nor name a tier or a region.
      if (override[name] !== undefined && !kinds.includes("text")) note(name, "none, as only text endpoints have it");
    }
    if (override.batch !== undefined && !kinds.some((kind) => BATCHED_KINDS.has(kind))) {
      note("batch", "none, as only texts, embeddings and moderations have batches");
    }
    if (!kinds.includes("video") && Object.keys(override.price_per_second).length > 0) {
      note("price_per_second", "no price of seconds, as only videos have one");
    }
  });
}

function pricesIn(override: WrittenOverride): WrittenPrices {
  return Object.fromEntries(PRICE_NAMES.map((name) => [name, override[name]]));
}

function refuseUnusedNames(pricing: WrittenPrices, { path, kinds }: Place, context: z.RefinementCtx): void {
  const isUsable = (word: PriceName) => isChargeable(word, kinds);
  for (const word of Object.keys(pricing) as PriceName[]) {
    if (pricing[word] === undefined || isUsable(word)) continue;
    const usable = PRICE_NAMES.filter(isUsable).join(", ");
    const own = usable === "" ? "video.price_per_second in its place" : `one of ${usable}`;
    const expected = `${own}; ${missingSectionFor(word)}`;
    const message = `a price that this model's endpoints can charge (${expected})`;
    context.addIssue({ code: "custom", path: [...path, word], message });
  }
}

/** The setting without which no endpoint of a model charges a price. */
function missingSectionFor(word: PriceName): string {
  const kinds = chargingKinds(word).filter((kind) => kind !== "cache");
  return `it needs ${kinds.map((kind) => kind === "text" ? "text: true" : `the section ${kind}`).join(" or ")}`;
}

/** Replaces prices of a million by those of one. */
function withExactPrices<T extends object>(written: T, context: z.RefinementCtx): T {
  const fields = new Map<string, unknown>(Object.entries(written));
  for (const name of MILLION_NAMES) {
    const perMillion = fields.get(name + PER_MILLION);
    fields.delete(name + PER_MILLION);
    if (typeof perMillion !== "string") continue;
    if (fields.get(name) !== undefined) {
      const message = `no price of a million, because the section has ${name}`;
      context.addIssue({ code: "custom", path: [name + PER_MILLION], message });
    }
    fields.set(name, priceOfOne(perMillion));
  }
  return Object.fromEntries(fields) as T;
}

/** An entry needs conditions that belong together, and something to apply. */
function refuseBadConditions(entry: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void {
  const note = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message });
  const isSet = (name: string) => entry[name] !== undefined;
  if (!PRICE_CONDITIONS.some(isSet)) note("from", CONDITION_EXPECTATION);
  if (isSet("utc_start") && !isSet("utc_end")) note("utc_end", "the end of the hours, with utc_start");
  if (isSet("utc_end") && !isSet("utc_start")) note("utc_start", "the start of the hours, with utc_end");
  const { from, until } = entry;
  if (typeof from === "number" && typeof until === "number" && until <= from) note("until", "a later date than from");
}

/** Dates out of order would let an older price win. Entries with other conditions can have any order. */
function refuseUnordered(overrides: readonly WrittenOverride[], context: z.RefinementCtx): void {
  let before = -Infinity;
  overrides.forEach((entry, index) => {
    const { from } = entry;
    if (from === undefined || PRICE_CONDITIONS.some((name) => name !== "from" && entry[name] !== undefined)) return;
    if (from <= before) context.addIssue({ code: "custom", path: [index, "from"], message: ORDER_EXPECTATION });
    before = from;
  });
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

function isFactor(value: string): boolean {
  try {
    multiplyRate(1n, value);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
