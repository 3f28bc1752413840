import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  type Conversation,
  type Effort,
  EFFORTS,
  NO_SAMPLING,
  type OutputFormat,
  type ReasoningRequest,
  type Tool,
} from "../../../neutral/conversation.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import { webSearchField } from "../../../parts/request/offered_search.ts";
import { unsupportedReference } from "../shared/media.ts";
import { itemsOf, readItems } from "../shared/read_items.ts";
import { readSearch, searchToolIn } from "../shared/search_tool.ts";
import { readToolChoice, readTools } from "../shared/tools.ts";
import { readDefaultSettings } from "../../../parts/request/default_settings.ts";
import { tierField } from "../../../parts/request/service_tier.ts";
import { unreadFields } from "../../../contract/unread_fields.ts";
import { isAbsent, isObject, listOf, numberOrNull, textOf, textOrNull } from "../../../neutral/wire_value.ts";
import { REQUEST_SHAPE } from "./request_shape.ts";

/** Reads a checked request. Source: Responses API reference, "Create a model response". */
export function readRequest(body: JsonObject): Conversation {
  refuseState(body);
  const maxOutputTokens = numberOrNull(body.max_output_tokens);
  if (maxOutputTokens !== null && !Number.isSafeInteger(maxOutputTokens)) {
    throw invalidField("max_output_tokens", `expected at most ${Number.MAX_SAFE_INTEGER}`);
  }
  const unsupportedFields = new Set<string>();
  const searchTool = searchToolIn(body)?.tool ?? null;
  const tools = readTools(body.tools, searchTool, unsupportedFields);
  const items = readItems(itemsOf(body.input), tools, searchTool, unsupportedFields);
  const instructions = textOrNull(body.instructions);
  const text = isObject(body.text) ? body.text : {};
  const reasoning = readReasoning(body.reasoning, unsupportedFields);
  const webSearch = readSearch(body);
  // A choice that forces the search is not a choice among the caller's own tools.
  const toolChoice = webSearch?.isForced ? null : readToolChoice(body.tool_choice, unsupportedFields);
  if (webSearch === null && !isAbsent(body.max_tool_calls)) unsupportedFields.add("max_tool_calls");
  const outputFormat = readFormat(text.format, unsupportedFields);
  const { user, safety_identifier: safetyIdentifier } = body;
  if (!isAbsent(user) && !isAbsent(safetyIdentifier) && user !== safetyIdentifier) unsupportedFields.add("user");
  return {
    model: textOf(body.model),
    instructions: [
      ...(instructions === null ? [] : [{ kind: "text" as const, text: instructions }]),
      ...items.instructions,
    ],
    turns: items.turns,
    tools: withoutDuplicates([...tools, ...items.tools]),
    ...webSearchField(webSearch),
    toolChoice,
    parallelToolCalls: typeof body.parallel_tool_calls === "boolean" ? body.parallel_tool_calls : null,
    outputFormat,
    maxOutputTokens,
    sampling: { ...NO_SAMPLING, temperature: numberOrNull(body.temperature), topP: numberOrNull(body.top_p) },
    reasoning,
    stream: body.stream === true,
    user: textOrNull(body.safety_identifier) ?? textOrNull(body.user),
    cacheKey: textOrNull(body.prompt_cache_key),
    verbosity: textOrNull(text.verbosity),
    ...readDefaultSettings(body),
    ...tierField(body.service_tier),
    ...readLogprobs(body),
    unsupportedFields: [...unsupportedFields.union(unreadFields(body, REQUEST_SHAPE))],
  };
}

function readLogprobs({ include, top_logprobs: top }: JsonObject): Pick<Conversation, "logprobs"> {
  const count = numberOrNull(top) ?? 0;
  return count > 0 || listOf(include).includes("message.output_text.logprobs") ? { logprobs: count } : {};
}

/** Removes tools with repeated names, as items may add a tool again and other vendors reject repeated names. */
function withoutDuplicates(tools: readonly Tool[]): Tool[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
}

/** Rejects references to stored responses, because other vendors cannot read them. */
function refuseState(body: JsonObject): void {
  const remedy = "send the whole conversation in input instead";
  if (!isAbsent(body.previous_response_id)) throw unsupportedReference("previous_response_id", remedy);
  if (!isAbsent(body.conversation)) throw unsupportedReference("conversation", remedy);
  if (!isAbsent(body.prompt)) throw unsupportedReference("prompt", "send its text in instructions and input instead");
  if (body.background === true) throw unsupportedReference("background", "set it to false");
}

function readReasoning(value: unknown, unsupportedFields: Set<string>): ReasoningRequest | null {
  if (!isObject(value)) return null;
  if (!isAbsent(value.summary) && !isAbsent(value.generate_summary)) {
    unsupportedFields.add("reasoning.generate_summary");
  }
  const requested = textOrNull(value.effort);
  const effort = EFFORTS.find((known) => known === requested) ?? null;
  if (requested !== null && effort === null) unsupportedFields.add("reasoning.effort");
  const summary = textOrNull(value.summary) ?? textOrNull(value.generate_summary);
  const visible = summary === null ? null : summary !== "none";
  return effort === null && visible === null ? null : { effort: effort as Effort | null, budgetTokens: null, visible };
}

function readFormat(format: unknown, unsupportedFields: Set<string>): OutputFormat | null {
  if (!isObject(format)) return null;
  switch (format.type) {
    case "text":
      return null;
    case "json_object":
      return { kind: "json" };
    case "json_schema":
      return {
        kind: "json_schema",
        name: textOf(format.name),
        description: textOrNull(format.description),
        schema: isObject(format.schema) ? format.schema : {},
        strict: typeof format.strict === "boolean" ? format.strict : null,
      };
    default:
      unsupportedFields.add("text.format");
      return null;
  }
}
