import type { TierWords } from "../../../service_tier.ts";

/**
 * The author's words for service tiers: `auto` is the better tier as far as the operator's account has any of it, else
 * the usual one. Source: Messages API reference, "service_tier".
 */
export const TIER_WORDS: TierWords = { auto: "auto", standard: "standard_only", priority: "auto" };
