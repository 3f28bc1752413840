import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, OutputFormat, Part, TextPart, Turn } from "../../../neutral/conversation.ts";
import { tierField } from "../../../parts/request/service_tier.ts";
import { unreadFields } from "../../../contract/unread_fields.ts";
import { DEFAULT_OUTPUT_NAMES } from "../../../parts/request/output_format_name.ts";
import { isAbsent, isObject, numberOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import { type FieldNames, readCache } from "../shared/fields.ts";
import { readInstructions, readTurns } from "./read_turns.ts";
import { isEffort, readReasoning } from "./read_reasoning.ts";
import { REQUEST_SHAPE } from "./request_shape.ts";
import { webSearchField } from "../../../parts/request/offered_search.ts";
import { readSearch } from "./read_search.ts";
import { readToolChoice, readTools } from "./read_tools.ts";

/**
 * Reads a checked request.
 *
 * @param generates False for a request that only counts tokens.
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readRequest(body: JsonObject, generates: boolean = true): Conversation {
  const unsupportedFields: FieldNames = new Set(unreadFields(body, REQUEST_SHAPE));
  const turns = readTurns(body.messages as JsonObject[], unsupportedFields);
  const opening = turns.findIndex((turn) => turn.role !== "system");
  const early = turns.splice(0, opening === -1 ? turns.length : opening).flatMap((turn) => turn.parts as TextPart[]);
  return {
    model: body.model as string,
    instructions: [...readInstructions(body.system, unsupportedFields), ...early],
    turns: markedAtEnd(turns, body),
    tools: readTools(body.tools, unsupportedFields),
    ...readSearchAndChoice(body),
    outputFormat: readOutputFormat(body, unsupportedFields),
    maxOutputTokens: generates ? readMaxTokens(body.max_tokens as number) : null,
    sampling: readSampling(body),
    reasoning: readReasoning(body),
    stream: body.stream === true,
    user: isObject(body.metadata) ? textOrNull(body.metadata.user_id) : null,
    cacheKey: null,
    verbosity: null,
    ...tierField(body.service_tier),
    unsupportedFields: [...unsupportedFields],
  };
}

/** The web search and the tool choice. A choice that forces the search is not a choice among the caller's own tools. */
function readSearchAndChoice(body: JsonObject): Pick<Conversation, "webSearch" | "toolChoice" | "parallelToolCalls"> {
  const webSearch = readSearch(body);
  const choice = readToolChoice(body.tool_choice);
  return { ...webSearchField(webSearch), ...choice, ...(webSearch?.isForced ? { toolChoice: null } : {}) };
}

function readMaxTokens(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw invalidField("max_tokens", `expected an integer up to ${Number.MAX_SAFE_INTEGER}`);
}

function readSampling(body: JsonObject): Conversation["sampling"] {
  return {
    temperature: numberOrNull(body.temperature),
    topP: numberOrNull(body.top_p),
    topK: numberOrNull(body.top_k),
    presencePenalty: null,
    frequencyPenalty: null,
    seed: null,
    stop: Array.isArray(body.stop_sequences) ? body.stop_sequences : [],
  };
}

function readOutputFormat(body: JsonObject, unsupportedFields: FieldNames): OutputFormat | null {
  const config = isObject(body.output_config) ? body.output_config : {};
  if (!isAbsent(config.effort) && !isEffort(config.effort)) unsupportedFields.add("output_config.effort");
  // `output_format` was the name of the field in the beta.
  const field = isAbsent(config.format) ? "output_format" : "output_config.format";
  const format = config.format ?? body.output_format;
  if (isAbsent(format)) return null;
  if (field !== "output_format" && !isAbsent(body.output_format)) unsupportedFields.add("output_format");
  if (!isObject(format) || format.type !== "json_schema" || !isObject(format.schema)) {
    unsupportedFields.add(field);
    return null;
  }
  return {
    kind: "json_schema",
    name: DEFAULT_OUTPUT_NAMES.messages,
    description: null,
    schema: format.schema,
    strict: null,
  };
}

/** Moves a cache mark of the whole request to its last part. */
function markedAtEnd(turns: readonly Turn[], body: JsonObject): Turn[] {
  const mark = readCache(body);
  const last = turns.at(-1);
  const part = last?.parts.at(-1);
  if (!mark.cache || !last || !part || !canBeMarked(part)) return [...turns];
  return [...turns.slice(0, -1), { ...last, parts: [...last.parts.slice(0, -1), { ...part, ...mark }] }];
}

function canBeMarked(part: Part): boolean {
  return !("cache" in part) && part.kind !== "reasoning" && part.kind !== "refusal" && part.kind !== "audio" &&
    part.kind !== "video" && part.kind !== "web_search";
}
