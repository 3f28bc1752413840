import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { writeDefaultSettings } from "../../../parts/request/default_settings.ts";
import { writeTier } from "../../../parts/request/service_tier.ts";
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
