import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation, Effort, Sampling } from "../../../conversation.ts";
import { effortForShare, plainEffort } from "../../../effort.ts";
import { cutWord, shortHash } from "../../../legal_word.ts";
import { familyOf, weakestEffortOf } from "./model_family.ts";
import { writeSharedSettings } from "./shared_settings.ts";
import type { Writing } from "./writing.ts";

const MOST_STOPS = 4;
const LONGEST_USER = 64;
const LONGEST_CACHE_KEY = 64;
/** Against what a budget is measured when nobody names the longest answer. */
const USUAL_OUTPUT_TOKENS = 32_000;

/** Everything but messages, tools and the shape of the answer. */
export function writeSettings(conversation: Conversation, writing: Writing): JsonObject {
  const { target } = writing;
  const effort = effortFor(conversation, writing);
  nameLostReasoning(conversation.reasoning, effort, writing);
  return {
    ...writeLimit(conversation, target.compatible),
    ...writeSampling(conversation.sampling, effort, writing),
    ...(effort !== null && { reasoning_effort: effort }),
    ...writeHints(conversation, writing),
    ...writeSharedSettings(conversation, isThinking(effort, writing), writing),
    // Usage is always asked for, as it is what the caller is charged by.
    ...(conversation.stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

/** The author's reasoning models refuse `max_tokens`, other vendors know no other word. */
function writeLimit({ maxOutputTokens }: Conversation, compatible: boolean): JsonObject {
  if (maxOutputTokens === null) return {};
  return compatible ? { max_tokens: maxOutputTokens } : { max_completion_tokens: maxOutputTokens };
}

/** True for a model that thinks before it answers this request: it refuses settings of sampling. */
function isThinking(effort: Effort | null, { target }: Writing): boolean {
  return !target.compatible && familyOf(target.model) === "reasoning" && effort !== "none";
}

/** This form says an effort, and nothing of how much of the thinking is shown. */
function nameLostReasoning(
  reasoning: Conversation["reasoning"],
  effort: Effort | null,
  { losses }: Writing,
): void {
  if (reasoning === null) return;
  if (reasoning.visible !== null) losses.add("reasoning_visibility");
  if (reasoning.effort !== null && reasoning.budgetTokens !== null) losses.add("reasoning_budget");
  if (effort === null && reasoning.effort !== "none") losses.add("reasoning");
}

function writeSampling(sampling: Sampling, effort: Effort | null, writing: Writing): JsonObject {
  const { losses } = writing;
  const thinking = isThinking(effort, writing);
  const body: JsonObject = {};
  const put = (name: string, value: number | null, usual: number) => {
    if (value === null) return;
    if (thinking && value !== usual) losses.add(name);
    else if (!thinking) body[name] = value;
  };
  put("temperature", sampling.temperature, 1);
  put("top_p", sampling.topP, 1);
  put("presence_penalty", sampling.presencePenalty, 0);
  put("frequency_penalty", sampling.frequencyPenalty, 0);
  if (sampling.seed !== null) body.seed = sampling.seed;
  if (sampling.topK !== null) losses.add("top_k");
  if (sampling.stop.length > MOST_STOPS || (thinking && sampling.stop.length > 0)) losses.add("stop");
  if (!thinking && sampling.stop.length > 0) body.stop = sampling.stop.slice(0, MOST_STOPS);
  return body;
}

/** The effort in the words that the target has; null says nothing. */
function effortFor(conversation: Conversation, { target, losses }: Writing): Effort | null {
  const { reasoning } = conversation;
  const wanted = reasoning?.effort ?? effortOfBudget(conversation, target.maxOutputTokens);
  if (wanted === null) return null;
  if (target.compatible) {
    if (wanted !== "none") return plainEffort(wanted);
    losses.add("reasoning"); // the word for none is known to few vendors
    return null;
  }
  const family = familyOf(target.model);
  if (family === "plain") {
    if (wanted !== "none") losses.add("reasoning");
    return null;
  }
  return wanted === "none" && family === "reasoning" ? weakestEffortOf(target.model) : wanted;
}

function effortOfBudget({ reasoning, maxOutputTokens }: Conversation, modelLimit: number | null): Effort | null {
  if (!reasoning || reasoning.budgetTokens === null) return null;
  const share = reasoning.budgetTokens / (maxOutputTokens ?? modelLimit ?? USUAL_OUTPUT_TOKENS);
  return effortForShare(share, ["low", "medium", "high"]);
}

function writeHints({ user, cacheKey, verbosity }: Conversation, { target, losses }: Writing): JsonObject {
  const body: JsonObject = {};
  // A name beyond the limit is known by its hash: all that a vendor does with it is to tell users apart.
  if (user !== null) body.user = user.length <= LONGEST_USER ? user : `user_${shortHash(user, 16)}`;
  if (target.compatible) {
    if (cacheKey !== null) losses.add("prompt_cache_key");
    if (verbosity !== null) losses.add("verbosity");
    return body;
  }
  if (cacheKey !== null) body.prompt_cache_key = cutWord(cacheKey, LONGEST_CACHE_KEY);
  if (verbosity !== null) body.verbosity = verbosity;
  return body;
}
