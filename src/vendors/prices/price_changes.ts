import { TOKEN_PRICES } from "../../money/billing/prices/tariff.ts";
import type { BuiltInFields } from "../catalog/built_in.ts";
import {
  conditionsOf,
  fieldsOfSourced,
  type PriceBook,
  pricesOfEntry,
  type SourcedModel,
  withSourced,
} from "../catalog/sourced_model.ts";
import { listIn, mapIn } from "./source_values.ts";

/** The prices of a model by name: `prompt`, `overrides[min_prompt_tokens 200000].prompt`, `flex.prompt`. */
export type FlatPrices = Readonly<Record<string, string>>;

/** Why a change waits for a person. */
export type PendingReason = "max_change" | "zero" | "vanished";

/** The change of a model's prices. */
export interface PriceChange {
  /** The vendor and its name of the model: `openai/gpt-6-sol`. */
  readonly model: string;
  /** Null if the model had no price. */
  readonly before: FlatPrices | null;
  /** Null if the source no longer has the model. */
  readonly after: FlatPrices | null;
}

/** A change that waits for a person. */
export interface PendingChange extends PriceChange {
  readonly reason: PendingReason;
  /** What the source has; null if it no longer has the model. */
  readonly sourced: SourcedModel | null;
}

/** What a new price list changes. */
export interface PriceUpdate {
  /** The prices in use, with the changes that need no person. */
  readonly book: PriceBook;
  readonly applied: readonly PriceChange[];
  readonly pending: readonly PendingChange[];
}

/** Options of {@linkcode comparePrices}. */
export interface CompareOptions {
  /** The part by which a price may change without a person: 0.5 for a half. */
  readonly maxChange: number;
  /** The built-in fields of a model by its key; null if it is not built in. */
  readonly builtIn: (key: string) => BuiltInFields | null;
}

/**
 * Compares a new price list with the prices in use, which are built-in ones where the source had none.
 *
 * @param current The prices of the source that are in use.
 * @param next What the source has now.
 */
export function comparePrices(current: PriceBook, next: PriceBook, options: CompareOptions): PriceUpdate {
  const book: Record<string, SourcedModel> = { ...current };
  const applied: PriceChange[] = [];
  const pending: PendingChange[] = [];
  for (const model of new Set([...Object.keys(current), ...Object.keys(next)])) {
    const [own, sourced] = [current[model], next[model] ?? null];
    const known = options.builtIn(model);
    const before = pricesOf(known, own ?? null);
    const after = sourced === null ? null : pricesOf(known, sourced);
    const change: PriceChange = { model, before, after };
    const reason = reasonToWait(change, options.maxChange);
    if (reason !== null) {
      pending.push({ ...change, reason, sourced });
      continue;
    }
    if (sourced !== null) book[model] = sourced;
    if (!isEqual(before, after)) applied.push(change);
  }
  return { book, applied, pending };
}

/** Null for a change that may be applied. */
function reasonToWait({ before, after }: PriceChange, maxChange: number): PendingReason | null {
  if (after === null) return "vanished";
  if (before === null) return Object.values(after).every((price) => Number(price) === 0) ? "zero" : null;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const reasons = names.map((name) => reasonOf(name, { before, after }, maxChange));
  return REASONS.find((reason) => reasons.includes(reason)) ?? null;
}

/** The first that applies is shown. */
const REASONS: readonly PendingReason[] = ["zero", "vanished", "max_change"];

/** Why the change of one price waits; null if it may be applied. */
function reasonOf(
  name: string,
  { before, after }: { readonly before: FlatPrices; readonly after: FlatPrices },
  maxChange: number,
): PendingReason | null {
  const [own, stated] = [before[name], after[name]];
  if (own === stated) return null;
  if (stated === undefined) return "vanished";
  const price = Number(stated);
  // A price under a condition takes the place of the one without it.
  const plain = name.slice(name.lastIndexOf(".") + 1);
  const old = own ?? (plain === name ? undefined : before[plain]);
  if (old === undefined) return price === 0 && isTokenPrice(plain) ? "zero" : null;
  const was = Number(old);
  if (was === price) return null;
  if (price === 0) return "zero";
  // What is no number, such as a list of prices of seconds, cannot be compared.
  return Math.abs(price - was) <= maxChange * was * (1 + ROUNDING) ? null : "max_change";
}

/** A token without its own price has that of another kind of token. */
function isTokenPrice(name: string): boolean {
  return (TOKEN_PRICES as ReadonlySet<string>).has(name);
}

/** A half of 0.000002 is not exact in binary fractions. */
const ROUNDING = 1e-9;

/** Null if neither has a price. */
function pricesOf(known: BuiltInFields | null, sourced: SourcedModel | null): FlatPrices | null {
  if (sourced === null) return known === null ? null : flatPrices(known);
  return flatPrices(known === null ? fieldsOfSourced(sourced) : withSourced(known, sourced));
}

/** The prices that a source states. */
export function flatSourced(sourced: SourcedModel): FlatPrices {
  const { pricePerSecond } = sourced;
  return flatPrices({
    ...fieldsOfSourced(sourced),
    ...pricePerSecond && { video: { price_per_second: pricePerSecond } },
  });
}

/** All prices of a model as it is written. */
function flatPrices(fields: BuiltInFields): FlatPrices {
  const flat: Record<string, string> = {};
  addList("", mapIn(fields.pricing));
  for (const [tier, prices] of Object.entries(mapIn(fields.pricing_tiers))) addList(`${tier}.`, mapIn(prices));
  for (const [name, price] of Object.entries(mapIn(mapIn(fields.video).price_per_second))) {
    flat[`price_per_second.${name}`] = String(price);
  }
  return flat;

  function addList(prefix: string, { overrides, ...prices }: Readonly<Record<string, unknown>>): void {
    for (const [name, price] of Object.entries(prices)) flat[prefix + name] = String(price);
    for (const each of listIn(overrides)) {
      const at = `${prefix}overrides[${conditionsOf(mapIn(each))}].`;
      for (const [name, price] of Object.entries(pricesOfEntry(mapIn(each)))) flat[at + name] = priceText(price);
    }
  }
}

function priceText(price: unknown): string {
  return typeof price === "string" ? price : JSON.stringify(price);
}

function isEqual(one: FlatPrices | null, other: FlatPrices | null): boolean {
  if (one === null || other === null) return one === other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => one[name] !== undefined && Number(one[name]) === Number(other[name]));
}
