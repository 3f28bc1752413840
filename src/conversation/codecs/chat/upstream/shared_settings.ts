import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { writeDefaultSettings } from "../../../parts/request/default_settings.ts";
import { writeTier } from "../../../parts/request/service_tier.ts";
import { TIER_NAMES } from "./tier_names.ts";
import type { Writing } from "./writing.ts";

/**
 * Settings shared with other formats: service tier, metadata and token probabilities. Not every vendor accepts them.
 *
 * @param isReasoning True for a model that reasons before it answers: such a model reports no probabilities.
 */
export function writeSharedSettings(conversation: Conversation, isReasoning: boolean, writing: Writing): JsonObject {
  const { target: { quirks }, droppedFields } = writing;
  const { serviceTier, logprobs } = conversation;
  if (logprobs !== undefined && isReasoning) droppedFields.add("logprobs");
  return {
    ...writeTier(serviceTier, "service_tier", quirks.has("no_service_tier") ? {} : TIER_NAMES, droppedFields),
    ...writeDefaultSettings(conversation, !quirks.has("no_metadata"), droppedFields),
    ...(logprobs === undefined || isReasoning ? {} : {
      logprobs: true,
      ...(logprobs > 0 ? { top_logprobs: logprobs } : {}),
    }),
  };
}
