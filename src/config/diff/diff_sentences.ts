import { isPricedByMillion, PRICE_NAMES, type PriceName } from "../../money/billing/prices/tariff.ts";
import { PER_MILLION, priceOfMillion } from "../../platform/names/per_million.ts";
import type { ConfigDiff, ValueChange } from "./config_diff.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** A difference as the admin API answers it. */
export interface AnsweredDiff extends ConfigDiff {
  /** The public ids of the keys that the file no longer declares. */
  readonly revoked_keys: readonly string[];
}

/** What an entry is called, by its section. */
const NOUNS: Readonly<Record<string, string>> = {
  providers: "provider",
  models: "model",
  aliases: "alias",
  accounts: "account",
};

/** What a removal leaves in force, by section. */
const LEFT: Readonly<Record<string, string>> = {
  providers:
    "Requests under way end there; later ones go to other providers of their model. What it did stays recorded",
  models: "Requests under way end; later ones that name it get 404. Its charges and records stay",
  aliases: "Requests that name it get 404, those that name its model go on",
  accounts: "It stays in the store with its balance, its ledger and the keys that the admin API created",
};

/**
 * Describes a difference for people, one sentence for each thing that changes: prices for a million of what people
 * count by the million, and what a removal leaves in force. It has no secret.
 *
 * @param isDone Whether the difference is in force, or only shown.
 */
export function diffSentences(diff: AnsweredDiff, isDone: boolean): string[] {
  const sentences = [
    ...changesIn(diff.changed),
    ...entriesIn(diff.added, (noun, name) => `The ${noun} ${name} is new.`),
    ...entriesIn(
      diff.removed,
      (noun, name, section) => `The ${noun} ${name} is removed. ${ownValue(LEFT, section) ?? ""}.`,
    ),
    ...diff.revoked_keys.map((id) => `The key ${id} is revoked, since the file no longer declares it.`),
    ...diff.restart.map((name) => `${name} changes with the next start of the gateway.`),
  ];
  if (sentences.length > 0) return sentences;
  return [isDone ? "Nothing has changed." : "Nothing would change."];
}

function entriesIn(
  names: ConfigDiff["added"],
  sentenceOf: (noun: string, name: string, section: string) => string,
): string[] {
  return Object.entries(names).flatMap(([section, each]) =>
    each.map((name) => sentenceOf(ownValue(NOUNS, section) ?? section, name, section))
  );
}

function changesIn(changed: ConfigDiff["changed"]): string[] {
  return Object.entries(changed).flatMap(([section, entries]) =>
    Object.entries(entries).flatMap(([name, fields]) => {
      const isNamed = Object.hasOwn(NOUNS, section);
      const entry = section === "models"
        ? name
        : isNamed
        ? `${ownValue(NOUNS, section)} ${name}`
        : `${section}.${name}`;
      return [...pricesIn(entry, fields), ...othersIn(entry, fields)];
    })
  );
}

const PRICING = /^pricing\.(.+)$/;

/** A price before and after, as people write it; null where there is none. */
interface PriceChange {
  before: string | null;
  after: string | null;
}

/** The changed prices, also where the price of one is now written as that of a million. */
function pricesIn(entry: string, fields: Readonly<Record<string, ValueChange>>): string[] {
  const prices = new Map<string, PriceChange>();
  for (const [field, change] of Object.entries(fields)) {
    const price = priceOf(field);
    if (price === null || change === "changed") continue;
    const known = prices.get(price.name) ?? { before: null, after: null };
    prices.set(price.name, {
      before: writtenPrice(change.before, price) ?? known.before,
      after: writtenPrice(change.after, price) ?? known.after,
    });
  }
  return [...prices].flatMap(([name, { before, after }]) => {
    if (before === after) return [];
    const unit = isByMillion(name) ? "USD per million" : "USD";
    return [`${entry}: ${name} ${before ?? "no price"} → ${after ?? "no price"} ${unit}.`];
  });
}

interface PriceField {
  /** With the condition that it is under: `overrides.0.prompt`. */
  readonly name: string;
  /** Whether the value is for a million. */
  readonly isPerMillion: boolean;
}

/** Null for a field that is no price. */
function priceOf(field: string): PriceField | null {
  const path = PRICING.exec(field)?.[1];
  if (path === undefined) return null;
  const isPerMillion = path.endsWith(PER_MILLION);
  const name = isPerMillion ? path.slice(0, -PER_MILLION.length) : path;
  return priceNameIn(name) === null ? null : { name, isPerMillion };
}

function priceNameIn(name: string): PriceName | null {
  const last = name.slice(name.lastIndexOf(".") + 1);
  return PRICE_NAMES.find((each) => each === last) ?? null;
}

function isByMillion(name: string): boolean {
  const price = priceNameIn(name);
  return price !== null && isPricedByMillion(price);
}

function writtenPrice(value: unknown, { name, isPerMillion }: PriceField): string | null {
  if (value === null) return null;
  const text = String(value);
  if (!/^\d+(\.\d+)?$/.test(text)) return text;
  return isByMillion(name) && !isPerMillion ? priceOfMillion(text) : withCents(text);
}

function withCents(text: string): string {
  const [whole = "", fraction = ""] = text.split(".");
  return `${whole}.${fraction.replace(/0+$/, "").padEnd(2, "0")}`;
}

function othersIn(entry: string, fields: Readonly<Record<string, ValueChange>>): string[] {
  return Object.entries(fields).flatMap(([field, change]) => {
    if (priceOf(field) !== null && change !== "changed") return [];
    const subject = field === "value" ? entry : `${entry}: ${field}`;
    if (change === "changed") return [`${subject} has changed; its value is secret.`];
    return [`${subject} ${shown(change.before)} → ${shown(change.after)}.`];
  });
}

function shown(value: unknown): string {
  if (value === null) return "not set";
  return typeof value === "string" ? value : JSON.stringify(value);
}
