import type { TierNames } from "../../../parts/request/service_tier.ts";

/** Source: Amazon Bedrock API reference, "ServiceTier". */
export const TIER_NAMES: TierNames = {
  standard: "default",
  flex: "flex",
  priority: "priority",
  reserved: "reserved",
};
