import type { JsonObject } from "../../../../lib/json_object.ts";
import type { RequestTarget } from "../../../upstream_format.ts";
import type { Conversation, Effort, Sampling } from "../../../conversation.ts";
import { effortForShare, nearestEffort, THREE_EFFORTS } from "../../../effort.ts";
import { cutWord, shortHash } from "../../../legal_word.ts";
import { takesSampling } from "../../../sampling.ts";
import { writeSharedSettings } from "./shared_settings.ts";
import type { Writing } from "./writing.ts";

const MOST_STOPS = 4;
const LONGEST_USER = 64;
const LONGEST_CACHE_KEY = 64;
/** Against what a budget is measured when nobody names the longest answer. */
const USUAL_OUTPUT_TOKENS = 32_000;

/** Everything but messages, tools and the shape of the answer. */
export function writeSettings(conversation: Conversation, writing: Writing): JsonObject {
  const { quirks } = writing.target;
  const reasoning = writeReasoningWish(conversation, writing);
  nameLostReasoning(conversation.reasoning, reasoning.effort, writing);
  return {
    ...writeLimit(conversation, writing.target),
    ...writeSampling(conversation.sampling, reasoning.effort, writing),
    ...reasoning.fields,
    ...writeHints(conversation, writing),
    ...writeSharedSettings(conversation, !takesSampling(writing.target.facts, reasoning.effort), writing),
    ...(conversation.stream && { stream: true }),
    // Usage is always asked for, as it is what the caller is charged by.
    ...(conversation.stream && !quirks.has("no_stream_options") && { stream_options: { include_usage: true } }),
  };
}

/** The author's reasoning models refuse `max_tokens`, other vendors know no other word. */
function writeLimit({ maxOutputTokens }: Conversation, { quirks }: RequestTarget): JsonObject {
  if (maxOutputTokens === null) return {};
  return { [quirks.has("max_tokens_field") ? "max_tokens" : "max_completion_tokens"]: maxOutputTokens };
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

function writeSampling(sampling: Sampling, effort: Effort | null, { target, losses }: Writing): JsonObject {
  const isRefused = !takesSampling(target.facts, effort);
  const body: JsonObject = {};
  const put = (name: string, value: number | null, usual: number) => {
    if (value === null) return;
    if (isRefused && value !== usual) losses.add(name);
    else if (!isRefused) body[name] = value;
  };
  put("temperature", sampling.temperature, 1);
  put("top_p", sampling.topP, 1);
  put("presence_penalty", sampling.presencePenalty, 0);
  put("frequency_penalty", sampling.frequencyPenalty, 0);
  if (sampling.seed !== null) body[target.quirks.has("random_seed_field") ? "random_seed" : "seed"] = sampling.seed;
  if (sampling.topK !== null) losses.add("top_k");
  const refusesStops = isRefused && target.facts.reasons === true;
  if (sampling.stop.length > MOST_STOPS || (refusesStops && sampling.stop.length > 0)) losses.add("stop");
  if (!refusesStops && sampling.stop.length > 0) body.stop = sampling.stop.slice(0, MOST_STOPS);
  return body;
}

interface ReasoningWish {
  /** The effort that is asked for; null where nothing is said. */
  readonly effort: Effort | null;
  readonly fields: JsonObject;
}

/** The effort in the words that the model and its vendor have. */
function writeReasoningWish(conversation: Conversation, { target, losses }: Writing): ReasoningWish {
  const { facts, quirks } = target;
  const wanted = conversation.reasoning?.effort ?? effortOfBudget(conversation, target.maxOutputTokens);
  if (wanted === null) return { effort: null, fields: {} };
  if (facts.reasons === false) {
    if (wanted !== "none") losses.add("reasoning");
    return { effort: null, fields: {} };
  }
  if (wanted === "none" && quirks.has("thinking_switch")) {
    return { effort: wanted, fields: { thinking: { type: "disabled" } } };
  }
  const known = facts.efforts ?? (quirks.has("three_efforts") ? THREE_EFFORTS : null);
  if (known === null) return { effort: wanted, fields: { reasoning_effort: wanted } };
  if (wanted === "none" && !known.includes("none")) {
    losses.add("reasoning");
    // What the word for none does to a model of which nothing is known is not known either.
    if (facts.efforts === null) return { effort: null, fields: {} };
  }
  if (known.length === 0) return { effort: null, fields: {} };
  const effort = nearestEffort(wanted, known);
  return { effort, fields: { reasoning_effort: effort } };
}

function effortOfBudget({ reasoning, maxOutputTokens }: Conversation, modelLimit: number | null): Effort | null {
  if (!reasoning || reasoning.budgetTokens === null) return null;
  const share = reasoning.budgetTokens / (maxOutputTokens ?? modelLimit ?? USUAL_OUTPUT_TOKENS);
  return effortForShare(share, THREE_EFFORTS);
}

function writeHints({ user, cacheKey, verbosity }: Conversation, { target, losses }: Writing): JsonObject {
  const { quirks } = target;
  const body: JsonObject = {};
  // A name beyond the limit is known by its hash: all that a vendor does with it is to tell users apart.
  if (user !== null && quirks.has("no_user_field")) losses.add("user");
  else if (user !== null) body.user = user.length <= LONGEST_USER ? user : `user_${shortHash(user, 16)}`;
  if (cacheKey !== null && quirks.has("no_prompt_cache_key")) losses.add("prompt_cache_key");
  else if (cacheKey !== null) body.prompt_cache_key = cutWord(cacheKey, LONGEST_CACHE_KEY);
  if (verbosity !== null && quirks.has("no_verbosity")) losses.add("verbosity");
  else if (verbosity !== null) body.verbosity = verbosity;
  return body;
}
