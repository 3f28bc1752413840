import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation, TextPart } from "../../../conversation.ts";
import { isObject, textOrNull } from "../../../wire_value.ts";
import { field, fieldsBeyond, objectsIn, spellingOf } from "../shared/fields.ts";
import { readSettings } from "./read_settings.ts";
import { readTurns } from "./read_turns.ts";
import { readToolChoice, readTools } from "../shared/tools.ts";

/** Fields that are read, or that belong to the gateway or to the path. */
const KNOWN = new Set([
  "model",
  "stream",
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  // Resolved by the gateway before the body is read.
  "cachedContent",
  // A key of the gateway, without effect in this form. Source: SPEC "Provider routing".
  "extra_body",
]);

/**
 * Reads a request. In this form model and streaming are told by the path: the caller of the codec puts them into the
 * body beforehand, as `model` (text) and `stream` (true for the streaming verb).
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readRequest(body: JsonObject): Conversation {
  const model = textOrNull(body.model);
  if (model === null) throw invalidField("model", "expected a model's name");
  const beyond = new Set(fieldsBeyond(body, KNOWN));
  const config = field(body, "generationConfig");
  const path = spellingOf(body, "generationConfig");
  const { maxOutputTokens, sampling, outputFormat, reasoning, detail } = readSettings(
    isObject(config) ? config : {},
    path,
    beyond,
  );
  return {
    model,
    instructions: readInstructions(body, beyond),
    turns: readTurns(objectsIn(body.contents), detail, beyond),
    tools: readTools(body.tools, beyond),
    toolChoice: readToolChoice(field(body, "toolConfig"), beyond),
    parallelToolCalls: null,
    outputFormat,
    maxOutputTokens,
    sampling,
    reasoning,
    stream: body.stream === true,
    user: null,
    cacheKey: null,
    verbosity: null,
    beyond: [...beyond],
  };
}

function readInstructions(body: JsonObject, beyond: Set<string>): TextPart[] {
  const instruction = field(body, "systemInstruction");
  if (typeof instruction === "string") return instruction === "" ? [] : [{ kind: "text", text: instruction }];
  if (!isObject(instruction)) return [];
  const parts: TextPart[] = [];
  for (const part of objectsIn(instruction.parts)) {
    for (const key of fieldsBeyond(part, new Set(["text"]))) beyond.add(`systemInstruction.parts.${key}`);
    const text = textOrNull(part.text);
    if (text !== null) parts.push({ kind: "text", text });
  }
  return parts;
}

/**
 * The handle of the cached content that a request refers to; null when it names none.
 *
 * @throws {GatewayError} `invalid_request` when it stands there in both spellings.
 */
export function readCachedContent(body: JsonObject): string | null {
  if (Object.hasOwn(body, "cachedContent") && Object.hasOwn(body, "cached_content")) {
    throw invalidField("cached_content", 'expected one spelling of the field, got "cachedContent" as well');
  }
  return textOrNull(field(body, "cachedContent"));
}
