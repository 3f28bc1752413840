import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { EFFORTS } from "../../../neutral/conversation.ts";
import type { Conversation, Effort, ReasoningRequest, Sampling } from "../../../neutral/conversation.ts";
import { isAbsent, listOf, numberOrNull, objectOf, textOf } from "../../../neutral/wire_value.ts";
import { webSearchField } from "../../../parts/request/offered_search.ts";
import { readSearch } from "../shared/search_options.ts";
import { readMessages } from "../shared/read_messages.ts";
import { readDefaultSettings } from "../../../parts/request/default_settings.ts";
import { tierField } from "../../../parts/request/service_tier.ts";
import { unreadFields } from "../../../contract/unread_fields.ts";
import { readOutputFormat, readToolChoice, readTools } from "./read_tools.ts";
import { REQUEST_SHAPE } from "./request_shape.ts";

/** Whole numbers that must be exact: JavaScript rounds those beyond 2^53. */
const EXACT_INTEGERS = ["seed", "max_tokens", "max_completion_tokens", "top_k"] as const;

/**
 * Reads a checked request.
 *
 * @throws {GatewayError} `invalid_request`, naming the field, for settings with no equivalent in other formats.
 */
export function readRequest(body: JsonObject): Conversation {
  refuseUntranslatable(body);
  const unsupportedFields = new Set<string>();
  addIgnoredAliases(body, unsupportedFields);
  const { instructions, turns } = readMessages(listOf(body.messages), unsupportedFields);
  return {
    model: textOf(body.model),
    instructions,
    turns,
    tools: readTools(body, unsupportedFields),
    ...webSearchField(readSearch(body)),
    toolChoice: readToolChoice(body, unsupportedFields),
    parallelToolCalls: typeof body.parallel_tool_calls === "boolean" ? body.parallel_tool_calls : null,
    outputFormat: readOutputFormat(body.response_format, unsupportedFields),
    maxOutputTokens: numberOrNull(body.max_completion_tokens) ?? numberOrNull(body.max_tokens),
    sampling: readSampling(body),
    reasoning: readReasoningRequest(body, unsupportedFields),
    stream: body.stream === true,
    user: textOf(body.safety_identifier) || textOf(body.user) || null,
    cacheKey: textOf(body.prompt_cache_key) || null,
    verbosity: textOf(body.verbosity) || null,
    ...readDefaultSettings(body),
    ...tierField(body.service_tier),
    ...readLogprobs(body),
    unsupportedFields: [...unsupportedFields.union(unreadFields(body, REQUEST_SHAPE))],
  };
}

function refuseUntranslatable(body: JsonObject): void {
  for (const name of EXACT_INTEGERS) {
    const value = body[name];
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      throw invalidField(name, `expected an integer of at most ${Number.MAX_SAFE_INTEGER}`);
    }
  }
  if (typeof body.n === "number" && body.n > 1) {
    throw invalidField("n", "more than one choice is not supported for this model; set n to 1");
  }
  if (listOf(body.modalities).includes("audio")) {
    throw invalidField("modalities", 'audio output is not supported for this model; remove "audio"');
  }
}

/** Pairs of fields with the same meaning. The second of a pair is read. */
const ALIASES = [["max_tokens", "max_completion_tokens"], ["user", "safety_identifier"]] as const;

function addIgnoredAliases(body: JsonObject, unsupportedFields: Set<string>): void {
  for (const [alias, preferred] of ALIASES) {
    if (!isAbsent(body[preferred]) && !isAbsent(body[alias]) && body[preferred] !== body[alias]) {
      unsupportedFields.add(alias);
    }
  }
}

function readLogprobs({ logprobs, top_logprobs: top }: JsonObject): Pick<Conversation, "logprobs"> {
  const count = numberOrNull(top) ?? 0;
  return logprobs === true || count > 0 ? { logprobs: count } : {};
}

function readSampling(body: JsonObject): Sampling {
  return {
    temperature: numberOrNull(body.temperature),
    topP: numberOrNull(body.top_p),
    topK: numberOrNull(body.top_k),
    presencePenalty: numberOrNull(body.presence_penalty),
    frequencyPenalty: numberOrNull(body.frequency_penalty),
    seed: numberOrNull(body.seed),
    stop: readStop(body.stop),
  };
}

function readStop(stop: unknown): string[] {
  const sequences = typeof stop === "string" ? [stop] : listOf(stop).map(textOf);
  return sequences.filter((sequence) => sequence !== "");
}

/**
 * Reads `reasoning_effort`, and the dialects' `reasoning: {effort, max_tokens, enabled, exclude}` and `thinking: {type,
 * budget_tokens}`.
 */
function readReasoningRequest(body: JsonObject, unsupportedFields: Set<string>): ReasoningRequest | null {
  const reasoning = objectOf(body.reasoning) ?? {};
  const thinking = objectOf(body.thinking) ?? {};
  const requested = textOf(body.reasoning_effort) || textOf(reasoning.effort);
  const isOff = reasoning.enabled === false || thinking.type === "disabled";
  const effort = EFFORTS.find((known) => known === requested) ?? null;
  if (requested !== "" && effort === null) unsupportedFields.add("reasoning_effort");
  const budgetTokens = positive(reasoning.max_tokens) ?? positive(thinking.budget_tokens);
  const visible = typeof reasoning.exclude === "boolean" ? !reasoning.exclude : null;
  const effectiveEffort: Effort | null = effort ?? (isOff ? "none" : null);
  const isOn = reasoning.enabled === true || thinking.type === "enabled" || thinking.type === "adaptive";
  if (effectiveEffort === null && budgetTokens === null && visible === null && !isOn) return null;
  return { effort: effectiveEffort, budgetTokens, visible };
}

function positive(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}
