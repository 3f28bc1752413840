import type { JsonObject } from "../../../../lib/json_object.ts";
import type { RequestTarget } from "../../../upstream_format.ts";
import type { Conversation } from "../../../conversation.ts";
import { writeDefaultSettings } from "../../../default_settings.ts";
import { writeTier } from "../../../service_tier.ts";
import { TIER_NAMES } from "./tier_names.ts";

/** Settings shared with other formats: service tier and metadata. */
export function writeSharedSettings(
  conversation: Conversation,
  { quirks }: RequestTarget,
  droppedFields: Set<string>,
): JsonObject {
  return {
    ...writeTier(
      conversation.serviceTier,
      "service_tier",
      quirks.has("no_service_tier") ? {} : TIER_NAMES,
      droppedFields,
    ),
    ...writeDefaultSettings(conversation, !quirks.has("no_metadata"), droppedFields),
  };
}
