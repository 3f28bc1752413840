import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, TextPart } from "../../../neutral/conversation.ts";
import { webSearchField } from "../../../parts/request/offered_search.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { tierField } from "../../../parts/request/service_tier.ts";
import { unreadFields } from "../../../contract/unread_fields.ts";
import { field, objectsIn, spellingOf } from "../shared/fields.ts";
import { REQUEST_SHAPE } from "./request_shape.ts";
import { readSettings } from "./read_settings.ts";
import { readTurns } from "./read_turns.ts";
import { readSearch } from "../shared/search.ts";
import { readToolChoice, readTools } from "./read_tools.ts";

/**
 * Reads a checked request. The path names the model and whether to stream, so the caller of the codec first adds them
 * to the body, as `model` (text) and `stream` (true for the streaming method).
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readRequest(body: JsonObject): Conversation {
  const model = textOrNull(body.model);
  if (model === null) throw invalidField("model", "expected a model's name");
  const unsupportedFields = new Set(unreadFields(body, REQUEST_SHAPE, true));
  const config = field(body, "generationConfig");
  const path = spellingOf(body, "generationConfig");
  const { maxOutputTokens, sampling, outputFormat, reasoning, detail, logprobs } = readSettings(
    isObject(config) ? config : {},
    path,
    unsupportedFields,
  );
  const turns = readTurns(objectsIn(body.contents), detail, unsupportedFields);
  if (detail !== null && !turns.some(({ parts }) => parts.some(({ kind }) => kind === "image"))) {
    unsupportedFields.add(`${path}.${spellingOf(isObject(config) ? config : {}, "mediaResolution")}`);
  }
  return {
    model,
    instructions: readInstructions(body),
    turns,
    tools: readTools(body.tools, unsupportedFields),
    ...webSearchField(readSearch(body.tools)),
    toolChoice: readToolChoice(field(body, "toolConfig"), unsupportedFields),
    parallelToolCalls: null,
    outputFormat,
    maxOutputTokens,
    sampling,
    reasoning,
    stream: body.stream === true,
    user: null,
    cacheKey: null,
    verbosity: null,
    ...(isObject(body.labels) ? { metadata: body.labels } : {}),
    ...tierField(field(body, "serviceTier")),
    ...(logprobs === null ? {} : { logprobs }),
    unsupportedFields: [...unsupportedFields],
  };
}

function readInstructions(body: JsonObject): TextPart[] {
  const instruction = field(body, "systemInstruction");
  if (typeof instruction === "string") return instruction === "" ? [] : [{ kind: "text", text: instruction }];
  if (!isObject(instruction)) return [];
  const parts: TextPart[] = [];
  for (const part of objectsIn(instruction.parts)) {
    const text = textOrNull(part.text);
    if (text !== null) parts.push({ kind: "text", text });
  }
  return parts;
}

/**
 * The name of the cached content that a request uses; null for none.
 *
 * @throws {GatewayError} `invalid_request` when it is set in both spellings.
 */
export function readCachedContent(body: JsonObject): string | null {
  if (Object.hasOwn(body, "cachedContent") && Object.hasOwn(body, "cached_content")) {
    throw invalidField("cached_content", 'expected only one spelling of the field, but "cachedContent" is also set');
  }
  return textOrNull(field(body, "cachedContent"));
}
