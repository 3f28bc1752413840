import type { TierNames } from "../../../parts/request/service_tier.ts";

/** OpenAI's names of service tiers. Source: Chat Completions reference, "service_tier". */
export const TIER_NAMES: TierNames = {
  auto: "auto",
  standard: "default",
  flex: "flex",
  priority: "priority",
  scale: "scale",
  fast: "fast",
};
