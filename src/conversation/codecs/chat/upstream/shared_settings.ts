import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation } from "../../../conversation.ts";
import { writeDefaultSettings } from "../../../default_settings.ts";
import { writtenTier } from "../../../service_tier.ts";
import { TIER_WORDS } from "./tier_words.ts";
import type { Writing } from "./writing.ts";

/**
 * The settings of other formats that this one has as well: tier, records and probabilities of tokens. Not every
 * vendor takes them.
 *
 * @param isThinking True for a model that thinks before it answers: it gives no probabilities.
 */
export function writeSharedSettings(conversation: Conversation, isThinking: boolean, writing: Writing): JsonObject {
  const { target: { quirks }, losses } = writing;
  const { serviceTier, logprobs } = conversation;
  if (logprobs !== undefined && isThinking) losses.add("logprobs");
  return {
    ...writtenTier(serviceTier, "service_tier", quirks.has("no_service_tier") ? {} : TIER_WORDS, losses),
    ...writeDefaultSettings(conversation, !quirks.has("no_metadata"), losses),
    ...(logprobs === undefined || isThinking ? {} : {
      logprobs: true,
      ...(logprobs > 0 ? { top_logprobs: logprobs } : {}),
    }),
  };
}
