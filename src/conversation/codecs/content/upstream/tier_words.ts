import type { TierWords } from "../../../service_tier.ts";

/** The author's words for service tiers. Source: Gemini API reference, "serviceTier". */
export const TIER_WORDS: TierWords = { standard: "standard", flex: "flex", priority: "priority" };
