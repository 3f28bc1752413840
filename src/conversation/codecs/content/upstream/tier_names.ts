import type { TierNames } from "../../../parts/request/service_tier.ts";

/** Google's names of service tiers. Source: Gemini API reference, "serviceTier". */
export const TIER_NAMES: TierNames = { standard: "standard", flex: "flex", priority: "priority" };
