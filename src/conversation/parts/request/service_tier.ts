import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { ServiceTier } from "../../neutral/conversation.ts";
import { readTier } from "../../neutral/usage.ts";

/** A format's names of service tiers, by the neutral names. The format does not support other tiers. */
export type TierNames = Readonly<Record<string, string>>;

/** Names of the default tier in all formats. */
const STANDARD: ReadonlySet<string> = new Set(["default", "standard", "standard_only", "on_demand"]);

/** The service tier of a request, as a field to spread; empty when it names none. */
export function tierField(value: unknown): { readonly serviceTier?: ServiceTier } {
  const tier = readTier(value);
  if (tier === null || tier === "unspecified") return {};
  return { serviceTier: neutralTierOf(tier) };
}

/** The neutral name of a format's tier in lower case. */
function neutralTierOf(tier: string): ServiceTier {
  return STANDARD.has(tier) ? "standard" : tier;
}

/** Whether a format supports a tier, given as a request names it, in lower case. */
export function isSupportedTier(tier: string, words: TierNames): boolean {
  return Object.hasOwn(words, neutralTierOf(tier));
}

/**
 * A tier by a format's own name, as a field to spread.
 *
 * @param droppedFields Receives `service_tier` for an unsupported tier, except those that every vendor serves by
 * default.
 */
export function writeTier(
  tier: ServiceTier | undefined,
  field: string,
  words: TierNames,
  droppedFields: Set<string>,
): Readonly<Record<string, string>> {
  if (tier === undefined) return {};
  const word = ownValue(words, tier);
  if (word !== undefined) return { [field]: word };
  if (tier !== "auto" && tier !== "standard") droppedFields.add("service_tier");
  return {};
}
