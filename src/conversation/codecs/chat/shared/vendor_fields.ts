import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { nearestEffort } from "../../../parts/request/effort.ts";
import { type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isAbsent } from "../../../neutral/wire_value.ts";
import { hasValue } from "./fields.ts";
import { type Effort, EFFORTS } from "../../../neutral/conversation.ts";
import type { Quirks } from "../../../contract/quirks.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";
import { WordSearch } from "../../../../platform/lib/text/word_search.ts";

/** The fields that a vendor with the chat format takes. It refuses a request with any other. */
export interface VendorFields {
  /** Of a request. */
  readonly request: ReadonlySet<string>;
  /** Of a message, by its role. Messages of other roles are not known. */
  readonly messages: Readonly<Record<string, ReadonlySet<string>>>;
  /** Of a part of a content, by its type. Parts of other types are not known. */
  readonly parts: Readonly<Record<string, ReadonlySet<string>>>;
  /** Of a call in a message of the assistant. */
  readonly call: ReadonlySet<string>;
  /** Roles that have another name at the vendor. */
  readonly roles: Readonly<Record<string, string>>;
  /** The efforts that it takes for every model; null if they differ by model. */
  readonly efforts: readonly Effort[] | null;
  /** The models that take no effort other than `none`, by the vendor's names. Default: no model. */
  readonly onlyNone?: RegExp;
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

const TEXT_AND_IMAGE = { text: setOf("type text"), image_url: setOf("type image_url") };

/**
 * Source: @mistralai/mistralai 2.7.0, `ChatCompletionRequest`; the vendor's error messages, "Extra inputs are not
 * permitted" (charmbracelet/crush#1590, Gage-Technologies/mistral-go#3).
 */
const MISTRAL: VendorFields = {
  request: setOf(
    "model messages temperature top_p max_tokens stream stop random_seed response_format tools tool_choice " +
      "presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode safe_prompt guardrails " +
      "metadata reasoning_effort prompt_cache_key service_tier",
  ),
  messages: {
    system: setOf("role content"),
    user: setOf("role content"),
    assistant: setOf("role content tool_calls prefix"),
    tool: setOf("role content tool_call_id name"),
  },
  parts: TEXT_AND_IMAGE,
  call: setOf("id type function index"),
  roles: { developer: "system" },
  efforts: EFFORTS.filter((effort) => effort !== "max"),
};

/**
 * Source: Cohere, Compatibility API, "Supported parameters" and "Unsupported parameters"; the vendor's error messages,
 * "unknown field" (BerriAI/litellm#24031, agno-agi/agno#3503).
 */
const COHERE: VendorFields = {
  request: setOf(
    "model messages temperature top_p max_tokens stream stream_options stop seed response_format tools tool_choice " +
      "presence_penalty frequency_penalty reasoning_effort user",
  ),
  messages: {
    system: setOf("role content"),
    developer: setOf("role content"),
    user: setOf("role content"),
    assistant: setOf("role content tool_calls"),
    tool: setOf("role content tool_call_id"),
  },
  parts: TEXT_AND_IMAGE,
  call: setOf("id type function"),
  roles: {},
  efforts: ["none", "high"],
};

/**
 * Source: groq 1.7.0 (Python), `CompletionCreateParams` and the types of messages; Groq documentation, "OpenAI
 * Compatibility": `logprobs`, `top_logprobs`, `logit_bias` and `messages[].name` are refused; the vendor's error
 * messages, "property 'reasoning_content' is unsupported" (agentjido/req_llm#772). Efforts: pydantic/pydantic-ai,
 * profile of Groq.
 */
const GROQ: VendorFields = {
  request: setOf(
    "model messages citation_options compound_custom disable_tool_validation documents exclude_domains " +
      "frequency_penalty function_call functions include_domains include_reasoning max_completion_tokens max_tokens " +
      "n parallel_tool_calls presence_penalty reasoning_effort reasoning_format response_format search_settings seed " +
      "service_tier stop stream stream_options temperature tool_choice tools top_p user",
  ),
  messages: {
    system: setOf("role content"),
    user: setOf("role content"),
    assistant: setOf("role content reasoning tool_calls function_call"),
    tool: setOf("role content tool_call_id"),
    function: setOf("role content name"),
  },
  parts: TEXT_AND_IMAGE,
  call: setOf("id type function"),
  roles: { developer: "system" },
  efforts: null,
  onlyNone: /^qwen\/qwen3/,
};

/** The fields that a vendor takes; null for a vendor that ignores or takes others. */
export function vendorFieldsFor(quirks: Quirks): VendorFields | null {
  if (quirks.has("mistral_fields")) return MISTRAL;
  if (quirks.has("groq_fields")) return GROQ;
  return quirks.has("cohere_fields") ? COHERE : null;
}

/** The deprecated functions of a request, their choice, and their calls and results in messages. */
const LEGACY_FUNCTIONS = new WordSearch(/"(?:functions|function_call)"\s*:|"role"\s*:\s*"function"/, ['"function']);

/**
 * Whether a vendor takes the functions of a request as they are. A vendor that only takes tools gets the deprecated
 * functions as tools.
 *
 * @param outlineText The JSON text of the body without long texts.
 */
export function takesFunctions(outlineText: string, quirks: Quirks): boolean {
  const fields = vendorFieldsFor(quirks);
  return fields === null || fields.request.has("functions") || !LEGACY_FUNCTIONS.test(outlineText);
}

/** What is left out without a report: the value that applies without the field. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  n: 1,
  top_logprobs: 0,
  parallel_tool_calls: true,
  service_tier: "auto",
  verbosity: "medium",
};

/**
 * Leaves out the fields of a request that a vendor refuses because it does not know them, or gives them the vendor's
 * names.
 *
 * @param replaced The members that other edits set.
 */
export function vendorFieldEditsOf({ body, model, quirks }: PassThroughRequest, replaced: JsonObject): MemberEdits {
  const fields = vendorFieldsFor(quirks);
  if (fields === null) return NO_MEMBER_EDITS;
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  const droppedFields: string[] = [];
  if (!fields.request.has("max_completion_tokens")) rename("max_completion_tokens", "max_tokens", body, set);
  if (quirks.has("random_seed_field")) rename("seed", "random_seed", body, set);
  for (const name of Object.keys(body)) {
    if (fields.request.has(name) || isOwn(name)) continue;
    remove.push(name);
    const renamed = ownValue(RENAMED, name);
    const isRenamed = renamed !== undefined && set[renamed] !== undefined;
    if (!isRenamed && hasValue(body[name]) && body[name] !== ownValue(DEFAULTS, name)) droppedFields.push(name);
  }
  if (refusesEfforts(fields, model, replaced.reasoning_effort ?? body.reasoning_effort)) {
    remove.push("reasoning_effort");
    droppedFields.push("reasoning_effort");
  } else changeEffort({ ...body, ...replaced }, fields, set, droppedFields);
  return { set, remove, droppedFields };
}

const RENAMED: Readonly<Record<string, string>> = { max_completion_tokens: "max_tokens", seed: "random_seed" };

function rename(from: string, to: string, body: JsonObject, set: Record<string, unknown>): void {
  if (!isAbsent(body[from]) && isAbsent(body[to])) set[to] = body[from];
}

/** Members that other edits remove, and report where that is due. */
function isOwn(name: string): boolean {
  return name === "extra_body" || name === "stream_options" || name === "reasoning" || name === "usage";
}

/** Whether a vendor's model takes no effort, and reasons as much as it likes unless it is switched off. */
export function refusesEfforts({ onlyNone }: VendorFields, model: string, effort: unknown): boolean {
  return onlyNone?.test(model) === true && EFFORTS.some((each) => each === effort) && effort !== "none";
}

function changeEffort(
  { reasoning_effort: sent }: JsonObject,
  { efforts }: VendorFields,
  set: Record<string, unknown>,
  droppedFields: string[],
): void {
  const requested = EFFORTS.find((effort) => effort === sent);
  if (requested === undefined || efforts === null || efforts.includes(requested)) return;
  const [first, ...others] = efforts;
  if (first === undefined) return;
  set.reasoning_effort = nearestEffort(requested, [first, ...others]);
  droppedFields.push("reasoning_effort");
}
