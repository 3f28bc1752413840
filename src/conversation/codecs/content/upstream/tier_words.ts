import type { TierWords } from "../../../service_tier.ts";

/** Google's names of service tiers. Source: Gemini API reference, "serviceTier". */
export const TIER_WORDS: TierWords = { standard: "standard", flex: "flex", priority: "priority" };
