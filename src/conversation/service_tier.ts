import { ownValue } from "../lib/own_value.ts";
import type { ServiceTier } from "./conversation.ts";
import { readTier } from "./usage.ts";

/** A format's words for service tiers, by the neutral ones; other words of the neutral form are lost in it. */
export type TierWords = Readonly<Record<string, string>>;

/** Words of all formats for the tier that is usual. */
const STANDARD: ReadonlySet<string> = new Set(["default", "standard", "standard_only", "on_demand"]);

/** The tier that a request names, as a field to spread; nothing where it names none or no word at all. */
export function tierField(value: unknown): { readonly serviceTier?: ServiceTier } {
  const tier = readTier(value);
  if (tier === null || tier === "unspecified") return {};
  return { serviceTier: neutralTierOf(tier) };
}

/** A format's word for a tier, in lower case, as the neutral one. */
export function neutralTierOf(tier: string): ServiceTier {
  return STANDARD.has(tier) ? "standard" : tier;
}

/** Whether a format has a word for a tier, as a request names it, in lower case. */
export function hasWordFor(tier: string, words: TierWords): boolean {
  return Object.hasOwn(words, neutralTierOf(tier));
}

/**
 * A tier in a format's own words, as a field to spread.
 *
 * @param losses Receives `service_tier` for a tier without a word, unless any vendor serves at that tier by itself.
 */
export function writtenTier(
  tier: ServiceTier | undefined,
  field: string,
  words: TierWords,
  losses: Set<string>,
): Readonly<Record<string, string>> {
  if (tier === undefined) return {};
  const word = ownValue(words, tier);
  if (word !== undefined) return { [field]: word };
  if (tier !== "auto" && tier !== "standard") losses.add("service_tier");
  return {};
}
