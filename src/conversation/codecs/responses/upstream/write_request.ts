import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, Effort, OutputFormat, ReasoningRequest, Sampling } from "../../../neutral/conversation.ts";
import { adaptiveEffort, COMMON_EFFORTS, effortForShare, nearestEffort } from "../../../parts/request/effort.ts";
import { writeBreakpoint } from "../../../parts/request/cache_breakpoints.ts";
import { MAX_HINT_CHARACTERS } from "../../../parts/request/member_edits.ts";
import { truncateName } from "../../../parts/request/sanitized_name.ts";
import { takesSampling } from "../../../parts/request/sampling.ts";
import { openAiDialectFor } from "../../../schemas/openai_dialect.ts";
import type { SchemaDialect } from "../../../schemas/schema_dialect.ts";
import { objectsOf, textOf } from "../../../neutral/wire_value.ts";
import { writeSearch } from "../shared/search_tool.ts";
import { writeTools } from "../shared/tools.ts";
import { writeSharedSettings } from "./shared_settings.ts";
import { systemRole, writeItems } from "./write_items.ts";

const MIN_OUTPUT_TOKENS = 16;
const MAX_NAME_CHARACTERS = 64;

/**
 * Writes a stateless request: nothing is stored, and signatures of reasoning are requested so that the caller can send
 * them back. Source: Responses API reference, "Create a model response".
 *
 * @throws {GatewayError} `invalid_request` for media that this format does not support.
 */
export function writeRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const droppedFields = new Set<string>();
  const search = writeSearch(conversation, target, droppedFields);
  const tools = writeTools(conversation, target, search, droppedFields);
  const reasoning = reasoningField(conversation, target, droppedFields);
  const isInInput = target.facts.hasInstructionsInInput === true;
  const text = instructionsOf(conversation, droppedFields);
  const mark = instructionMark(conversation, target, droppedFields);
  const instructions = isInInput ? "" : text;
  const turns = inputOf(conversation, target, tools.nameOf, droppedFields);
  const input = isInInput && text !== "" ? [messageOf(systemRole(target), text, mark), ...turns] : turns;
  const body: JsonObject = {
    model: target.model,
    ...(instructions === "" ? {} : { instructions }),
    input,
    ...tools.fields,
    ...samplingFields(conversation.sampling, target, reasoning.effort ?? null, droppedFields),
    ...limitField(conversation.maxOutputTokens, target, droppedFields),
    ...(Object.keys(reasoning).length > 0 ? { reasoning } : {}),
    ...textField(conversation, target, droppedFields),
    ...hintFields(conversation, target),
    ...writeSharedSettings(conversation, target, droppedFields),
    ...(conversation.stream ? { stream: true } : {}),
    store: false,
    ...includeFields(conversation, target, search !== null, droppedFields),
  };
  const written = { body, droppedFields: [...droppedFields] };
  return tools.renamed.size > 0 ? { ...written, toolNames: tools.renamed } : written;
}

function inputOf(
  { turns, outputFormat }: Conversation,
  target: RequestTarget,
  nameOf: (tool: string) => string,
  droppedFields: Set<string>,
): JsonObject[] {
  const items = writeItems(turns, target, nameOf, droppedFields);
  // A request needs input; a minimal user message makes the model follow the instructions.
  const input = items.length > 0 ? items : [messageOf("user", ".")];
  if (outputFormat?.kind !== "json" || input.some(mentionsJson)) return input;
  return [messageOf(systemRole(target), "Answer with a JSON object."), ...input];
}

function messageOf(role: string, text: string, mark: JsonObject = {}): JsonObject {
  return { type: "message", role, content: [{ type: "input_text", text, ...mark }] };
}

/** The mark of the instructions, at their end; within the text that they become there can be none. */
function instructionMark(
  { instructions }: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): JsonObject {
  const isInInput = target.facts.hasInstructionsInInput === true;
  const marks = instructions.map(({ cache }) => cache);
  if (marks.slice(0, isInInput ? -1 : undefined).some((mark) => mark !== undefined)) {
    droppedFields.add("cache_control");
  }
  return isInInput ? writeBreakpoint(marks.at(-1), target, droppedFields) : {};
}

/**
 * Whether a message mentions JSON: vendors reject `json_object` otherwise; instructions do not count.
 * Source: Responses API reference, "text.format".
 */
function mentionsJson({ type, content }: JsonObject): boolean {
  return type === "message" && objectsOf(content).some(({ text }) => /json/i.test(textOf(text)));
}

function instructionsOf({ instructions }: Conversation, droppedFields: Set<string>): string {
  if (instructions.some((part) => part.citations)) droppedFields.add("citations");
  return instructions.map((part) => part.text).join("\n\n");
}

function samplingFields(
  sampling: Sampling,
  { facts }: RequestTarget,
  effort: Effort | null,
  droppedFields: Set<string>,
): JsonObject {
  if (sampling.topK !== null) droppedFields.add("top_k");
  if (sampling.presencePenalty !== null) droppedFields.add("presence_penalty");
  if (sampling.frequencyPenalty !== null) droppedFields.add("frequency_penalty");
  if (sampling.seed !== null) droppedFields.add("seed");
  if (sampling.stop.length > 0) droppedFields.add("stop");
  const { temperature, topP } = sampling;
  if (!takesSampling(facts, effort)) {
    // Default values need not be reported as dropped.
    if (temperature !== null && temperature !== 1) droppedFields.add("temperature");
    if (topP !== null && topP !== 1) droppedFields.add("top_p");
    return {};
  }
  return {
    ...(temperature === null ? {} : { temperature: Math.min(Math.max(temperature, 0), 2) }),
    ...(topP === null ? {} : { top_p: topP }),
  };
}

/** Writes the output limit. OpenAI rejects a limit below its minimum, so it is raised and reported. */
function limitField(limit: number | null, { quirks }: RequestTarget, droppedFields: Set<string>): JsonObject {
  if (limit === null) return {};
  if (limit >= MIN_OUTPUT_TOKENS || quirks.has("small_output_limits")) return { max_output_tokens: limit };
  droppedFields.add("max_tokens");
  return { max_output_tokens: MIN_OUTPUT_TOKENS };
}

/** Writes `reasoning`; empty when nothing is set, and for models that do not reason, which reject its members. */
function reasoningField(
  conversation: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): { effort?: Effort; summary?: "auto" } {
  const { reasoning, maxOutputTokens } = conversation;
  if (reasoning === null) return {};
  if (target.facts.canReason === false) {
    if (reasoning.effort !== "none" && reasoning.budgetTokens !== 0) droppedFields.add("reasoning");
    return {};
  }
  const requested = effortOf(reasoning, maxOutputTokens ?? target.maxOutputTokens ?? 32_000) ??
    adaptiveEffort(reasoning);
  const effort = requested === null ? null : supportedEffort(requested, target, droppedFields);
  if (reasoning.effort !== null && reasoning.budgetTokens !== null) droppedFields.add("reasoning_budget");
  // Reasoning is not returned unless requested.
  if (effort === null && reasoning.visible === null) droppedFields.add("reasoning");
  return { ...(effort === null ? {} : { effort }), ...(reasoning.visible === true ? { summary: "auto" } : {}) };
}

/** The nearest effort that the model supports. Reasoning that cannot be turned off is reported. */
function supportedEffort(requested: Effort, { facts, quirks }: RequestTarget, droppedFields: Set<string>): Effort {
  const known = facts.efforts ?? (quirks.has("three_efforts") ? COMMON_EFFORTS : null);
  if (known === null || known.length === 0) return requested;
  if (requested === "none" && !known.includes("none")) droppedFields.add("reasoning");
  return nearestEffort(requested, known);
}

function effortOf({ effort, budgetTokens }: ReasoningRequest, maxOutputTokens: number): Effort | null {
  if (effort !== null || budgetTokens === null) return effort;
  if (budgetTokens === 0) return "none";
  return effortForShare(budgetTokens / maxOutputTokens, ["low", "medium", "high", "xhigh", "max"]);
}

function textField(
  { outputFormat, verbosity }: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): JsonObject {
  const text = {
    ...(outputFormat === null ? {} : { format: writeFormat(outputFormat, openAiDialectFor(target), droppedFields) }),
    ...(verbosity === null ? {} : { verbosity }),
  };
  return Object.keys(text).length > 0 ? { text } : {};
}

/** Writes `text.format`. `strict` is requested only for schemas that the vendor accepts as strict. */
export function writeFormat(format: OutputFormat, dialect: SchemaDialect, droppedFields: Set<string>): JsonObject {
  if (format.kind === "json") return { type: "json_object" };
  const { schema, isStrict, isChanged } = dialect.output(format.schema, format.strict === true);
  if (isChanged) droppedFields.add("output_schema");
  if (format.strict === true && !isStrict) droppedFields.add("output_strict");
  const name = format.name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_NAME_CHARACTERS) || "reply";
  return {
    type: "json_schema",
    name,
    ...(format.description === null ? {} : { description: format.description }),
    schema,
    ...(format.strict === null ? {} : { strict: isStrict }),
  };
}

function hintFields({ user, cacheKey }: Conversation, { quirks }: RequestTarget): JsonObject {
  return {
    ...(user === null
      ? {}
      : { [quirks.has("user_field") ? "user" : "safety_identifier"]: truncateName(user, MAX_HINT_CHARACTERS) }),
    ...(cacheKey === null ? {} : { prompt_cache_key: truncateName(cacheKey, MAX_HINT_CHARACTERS) }),
  };
}

/** Requests optional contents of the reply. Models that reason report no token probabilities. */
function includeFields(
  { logprobs }: Conversation,
  { facts }: RequestTarget,
  searches: boolean,
  droppedFields: Set<string>,
): JsonObject {
  const wantsLogprobs = logprobs !== undefined && facts.canReason === false;
  if (logprobs !== undefined && !wantsLogprobs) droppedFields.add("logprobs");
  const include = [
    ...(facts.canReason === false ? [] : ["reasoning.encrypted_content"]),
    ...(wantsLogprobs ? ["message.output_text.logprobs"] : []),
    ...(searches ? ["web_search_call.action.sources"] : []),
  ];
  return {
    ...(include.length > 0 ? { include } : {}),
    ...(wantsLogprobs && logprobs > 0 ? { top_logprobs: logprobs } : {}),
  };
}

/** Models without web search. Source: OpenAI guide "Web search", "Limitations"; the models' pages. */
const WITHOUT_SEARCH = /(?:^|[/:])(?:gpt-3|gpt-4(?![.o\d])|gpt-4\.1-nano|chatgpt-|o1)/;

/** Whether a model of OpenAI has web search. */
export function hasWebSearch(model: string): boolean {
  return !WITHOUT_SEARCH.test(model);
}
