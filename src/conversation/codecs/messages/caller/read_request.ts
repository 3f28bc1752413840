import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation, OutputFormat, Part, TextPart, Turn } from "../../../conversation.ts";
import { isObject, numberOrNull, textOrNull } from "../../../wire_value.ts";
import { type Names, readCache } from "../shared/fields.ts";
import { readInstructions, readTurns } from "./read_turns.ts";
import { readReasoning } from "../shared/thinking.ts";
import { readToolChoice, readTools } from "../shared/tools.ts";

/** Fields that are read, and the gateway's own. */
const READ_FIELDS = new Set([
  "model",
  "messages",
  "max_tokens",
  "system",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "stream",
  "metadata",
  "thinking",
  "output_config",
  "output_format",
  "cache_control",
  "tools",
  "tool_choice",
  "extra_body",
]);

/**
 * A checked body in neutral words.
 *
 * @param generates False for a request that only counts tokens.
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readRequest(body: JsonObject, generates: boolean = true): Conversation {
  const beyond: Names = new Set(Object.keys(body).filter((field) => body[field] !== null && !READ_FIELDS.has(field)));
  const turns = readTurns(body.messages as JsonObject[], beyond);
  const opening = turns.findIndex((turn) => turn.role !== "system");
  const early = turns.splice(0, opening === -1 ? turns.length : opening).flatMap((turn) => turn.parts as TextPart[]);
  return {
    model: body.model as string,
    instructions: [...readInstructions(body.system, beyond), ...early],
    turns: markedAtEnd(turns, body),
    tools: readTools(body.tools, beyond),
    ...readToolChoice(body.tool_choice),
    outputFormat: readOutputFormat(body, beyond),
    maxOutputTokens: generates ? readMaxTokens(body.max_tokens as number) : null,
    sampling: readSampling(body),
    reasoning: readReasoning(body),
    stream: body.stream === true,
    user: readUser(body.metadata, beyond),
    cacheKey: null,
    verbosity: null,
    beyond: [...beyond],
  };
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

function readUser(metadata: unknown, beyond: Names): string | null {
  if (!isObject(metadata)) return null;
  for (const field in metadata) if (field !== "user_id") beyond.add(`metadata.${field}`);
  return textOrNull(metadata.user_id);
}

function readOutputFormat(body: JsonObject, beyond: Names): OutputFormat | null {
  const config = isObject(body.output_config) ? body.output_config : {};
  for (const field in config) if (field !== "effort" && field !== "format") beyond.add(`output_config.${field}`);
  const format = config.format ?? body.output_format; // the latter is the name of the feature's first months
  if (!isObject(format) || format.type !== "json_schema" || !isObject(format.schema)) return null;
  return { kind: "json_schema", name: "output", description: null, schema: format.schema, strict: null };
}

/** A mark on the whole request stands for one on its last block. */
function markedAtEnd(turns: readonly Turn[], body: JsonObject): Turn[] {
  const mark = readCache(body);
  const last = turns.at(-1);
  const part = last?.parts.at(-1);
  if (!mark.cache || !last || !part || !canBeMarked(part)) return [...turns];
  return [...turns.slice(0, -1), { ...last, parts: [...last.parts.slice(0, -1), { ...part, ...mark }] }];
}

function canBeMarked(part: Part): boolean {
  return !("cache" in part) && part.kind !== "reasoning" && part.kind !== "refusal" && part.kind !== "audio" &&
    part.kind !== "video";
}
