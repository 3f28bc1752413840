import type { JsonObject } from "../../codec.ts";
import type { Conversation, Effort, Sampling } from "../../conversation.ts";
import { familyOf, weakestEffortOf } from "./model_family.ts";
import { shortHash } from "./names.ts";
import type { Writing } from "./writing.ts";

const MOST_STOPS = 4;
const LONGEST_USER = 64;
/** A budget's share of the whole answer, up to which it is called so. Source: the effort map of the neutral form. */
const EFFORT_BY_SHARE: readonly (readonly [share: number, effort: Effort])[] = [[0.2, "low"], [0.45, "medium"]];
/** Against what a budget is measured when nobody names the longest answer. */
const USUAL_OUTPUT_TOKENS = 32_000;

/** Everything but messages, tools and the shape of the answer. */
export function writeSettings(conversation: Conversation, writing: Writing): JsonObject {
  const { target } = writing;
  const effort = effortFor(conversation, writing);
  return {
    ...writeLimit(conversation, target.compatible),
    ...writeSampling(conversation.sampling, effort, writing),
    ...(effort !== null && { reasoning_effort: effort }),
    ...writeHints(conversation, writing),
    // Usage is always asked for, as it is what the caller is charged by.
    ...(conversation.stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

/** The author's reasoning models refuse `max_tokens`, other vendors know no other word. */
function writeLimit({ maxOutputTokens }: Conversation, compatible: boolean): JsonObject {
  if (maxOutputTokens === null) return {};
  return compatible ? { max_tokens: maxOutputTokens } : { max_completion_tokens: maxOutputTokens };
}

function writeSampling(sampling: Sampling, effort: Effort | null, { target, losses }: Writing): JsonObject {
  const thinking = !target.compatible && familyOf(target.model) === "reasoning" && effort !== "none";
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
    if (wanted === "none") losses.add("reasoning");
    return compatibleEffort(wanted);
  }
  const family = familyOf(target.model);
  if (family === "plain") {
    if (wanted !== "none") losses.add("reasoning");
    return null;
  }
  return wanted === "none" && family === "reasoning" ? weakestEffortOf(target.model) : wanted;
}

/** Only three words are known to every vendor; the word for none is known to few, so it is left out. */
function compatibleEffort(effort: Effort): Effort | null {
  switch (effort) {
    case "none":
      return null;
    case "minimal":
      return "low";
    case "xhigh":
    case "max":
      return "high";
    default:
      return effort;
  }
}

function effortOfBudget({ reasoning, maxOutputTokens }: Conversation, modelLimit: number | null): Effort | null {
  if (!reasoning || reasoning.budgetTokens === null) return null;
  const share = reasoning.budgetTokens / (maxOutputTokens ?? modelLimit ?? USUAL_OUTPUT_TOKENS);
  return EFFORT_BY_SHARE.find(([most]) => share <= most)?.[1] ?? "high";
}

function writeHints({ user, cacheKey, verbosity }: Conversation, { target, losses }: Writing): JsonObject {
  const body: JsonObject = {};
  // A name beyond the limit is known by its hash: all that a vendor does with it is to tell users apart.
  if (user !== null) body.user = user.length <= LONGEST_USER ? user : `user_${shortHash(user)}${shortHash(`2${user}`)}`;
  if (target.compatible) {
    if (cacheKey !== null) losses.add("prompt_cache_key");
    if (verbosity !== null) losses.add("verbosity");
    return body;
  }
  if (cacheKey !== null) body.prompt_cache_key = cacheKey;
  if (verbosity !== null) body.verbosity = verbosity;
  return body;
}
