import type { JsonObject } from "../../../../lib/json_object.ts";
import type { RequestTarget } from "../../../upstream_format.ts";
import type { Conversation } from "../../../conversation.ts";
import { writeDefaultSettings } from "../../../default_settings.ts";
import { type TierWords, writtenTier } from "../../../service_tier.ts";

const TIERS: TierWords = {
  auto: "auto",
  standard: "default",
  flex: "flex",
  priority: "priority",
  scale: "scale",
  fast: "fast",
  ultrafast: "ultrafast",
};

/** The settings of other formats that this one has as well: tier and records. */
export function writeSharedSettings(
  conversation: Conversation,
  { quirks }: RequestTarget,
  losses: Set<string>,
): JsonObject {
  return {
    ...writtenTier(conversation.serviceTier, "service_tier", quirks.has("no_service_tier") ? {} : TIERS, losses),
    ...writeDefaultSettings(conversation, !quirks.has("no_metadata"), losses),
  };
}
