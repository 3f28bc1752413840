import type { TierNames } from "../../../parts/request/service_tier.ts";

/**
 * Anthropic's names of service tiers. `auto` uses the better tier as far as the operator's account has capacity for it,
 * otherwise the default one. Source: Messages API reference, "service_tier".
 */
export const TIER_NAMES: TierNames = { auto: "auto", standard: "standard_only", priority: "auto" };
