import { isImageUri } from "../../../parts/request/picture_uri.ts";
import { isDataUri, readDataUri } from "../../../../platform/lib/media/data_uri.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { GatewayError } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";

/** Fields of an assistant message that can replace its content. */
const CONTENT_ALTERNATIVES = ["refusal", "audio", "reasoning_content", "reasoning", "reasoning_details"] as const;

/**
 * Ids of the calls so far; null before the first one, since most requests have none. `anonymous` is true when a call
 * had no id, so that any result may belong to it.
 */
interface KnownCalls {
  ids: Set<string> | null;
  anonymous: boolean;
}

/**
 * Checks roles, contents, and that each tool result belongs to an earlier call. Paths are built only for errors.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalidField("messages", "expected a non-empty array of messages");
  }
  const calls: KnownCalls = { ids: null, anonymous: false };
  for (let i = 0; i < messages.length; i++) checkMessage(messages[i], i, calls);
}

function checkMessage(message: unknown, i: number, calls: KnownCalls): void {
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw invalidField(`messages[${i}]`, "expected an object");
  }
  const fields = message as JsonObject;
  switch (fields.role) {
    case "user":
    case "system":
    case "developer":
      return checkContent(fields.content, i);
    case "assistant":
      return checkAssistant(fields, i, calls);
    case "tool":
      checkContent(fields.content, i);
      return checkResultId(fields.tool_call_id, i, calls);
    case "function":
      if (typeof fields.name !== "string") throw invalidField(`messages[${i}].name`, "expected a function's name");
      if (fields.content !== null) checkContent(fields.content, i);
      return;
    default:
      throw invalidField(
        `messages[${i}].role`,
        'expected "system", "developer", "user", "assistant", "tool" or "function"',
      );
  }
}

function checkAssistant(message: JsonObject, i: number, calls: KnownCalls): void {
  const { content, tool_calls: toolCalls, function_call: functionCall } = message;
  const hasCalls = toolCalls !== undefined && toolCalls !== null;
  if (hasCalls) checkCalls(toolCalls, i, calls);
  if (content !== undefined && content !== null) return checkContent(content, i);
  if (hasCalls && (toolCalls as unknown[]).length > 0) return;
  if (functionCall !== undefined && functionCall !== null) return;
  if (CONTENT_ALTERNATIVES.some((field) => message[field] !== undefined && message[field] !== null)) return;
  throw invalidField(`messages[${i}].content`, "expected a string or an array of parts, unless tool_calls is set");
}

function checkCalls(toolCalls: unknown, i: number, calls: KnownCalls): void {
  if (!Array.isArray(toolCalls)) throw invalidField(`messages[${i}].tool_calls`, "expected an array");
  for (let k = 0; k < toolCalls.length; k++) {
    const call = toolCalls[k];
    if (typeof call !== "object" || call === null) throw invalidCall(i, k, "", "expected an object");
    if (typeof call.id === "string" && call.id !== "") (calls.ids ??= new Set()).add(call.id);
    else if (call.id === undefined || call.id === null || call.id === "") calls.anonymous = true;
    else throw invalidCall(i, k, ".id", "expected a string");
    if (call.type === "custom") {
      if (typeof call.custom?.name !== "string") throw invalidCall(i, k, ".custom.name", "expected a tool's name");
      if (typeof call.custom.input !== "string") throw invalidCall(i, k, ".custom.input", "expected a string");
    } else if (call.type === undefined || call.type === null || call.type === "function") {
      if (typeof call.function?.name !== "string" || call.function.name === "") {
        throw invalidCall(i, k, ".function.name", "expected a function's name");
      }
      const type = typeof call.function.arguments;
      // The format requires a string, but some vendors send and accept an object.
      if (type !== "string" && type !== "object" && type !== "undefined") {
        throw invalidCall(i, k, ".function.arguments", "expected a JSON string");
      }
    }
  }
}

function invalidCall(i: number, k: number, field: string, expected: string): GatewayError {
  return invalidField(`messages[${i}].tool_calls[${k}]${field}`, expected);
}

function checkResultId(id: unknown, i: number, calls: KnownCalls): void {
  if (typeof id !== "string") throw invalidField(`messages[${i}].tool_call_id`, "expected the id of a tool call");
  if (calls.ids?.has(id) || calls.anonymous) return;
  throw invalidField(`messages[${i}].tool_call_id`, `no earlier tool call has the id "${id.slice(0, 64)}"`);
}

function checkContent(content: unknown, i: number): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) throw invalidField(`messages[${i}].content`, "expected a string or an array of parts");
  for (let k = 0; k < content.length; k++) checkPart(content[k], i, k);
}

function checkPart(part: unknown, i: number, k: number): void {
  if (typeof part !== "object" || part === null) throw invalidPart(i, k, "", "expected an object");
  const fields = part as JsonObject;
  switch (fields.type) {
    case "text":
      if (typeof fields.text !== "string") throw invalidPart(i, k, ".text", "expected a string");
      return;
    case "image_url":
      return checkImage(fields.image_url, i, k);
    case "input_audio": {
      const audio = fields.input_audio as JsonObject | null | undefined;
      if (typeof audio?.data !== "string") throw invalidPart(i, k, ".input_audio.data", "expected a base64 string");
      if (typeof audio.format !== "string") {
        throw invalidPart(i, k, ".input_audio.format", "expected the name of an audio format");
      }
      return;
    }
    case "file":
      if (typeof fields.file !== "object" || fields.file === null) {
        throw invalidPart(i, k, ".file", "expected an object");
      }
      return;
    default:
      if (typeof fields.type !== "string") {
        throw invalidPart(i, k, ".type", "expected the type of the part as a string");
      }
  }
}

const BASE64 = /^[A-Za-z0-9+/_\-\s]+={0,2}\s*$/;
/** Characters checked at each end of the data. The vendor validates the rest. */
const CHECKED_CHARACTERS = 256;

function checkImage(image: unknown, i: number, k: number): void {
  // Some vendors accept a plain URL in place of the object.
  const url = typeof image === "string" ? image : (image as JsonObject | null | undefined)?.url;
  if (typeof url !== "string" || url === "") {
    throw invalidPart(i, k, ".image_url.url", "expected a URL or a data: URL");
  }
  if (!isDataUri(url)) return;
  const head = url.slice(0, Math.max(url.indexOf(","), 0)).toLowerCase();
  const isPlain = /; *base64 *$/.test(head) && !url.includes("%");
  const read = isPlain ? null : readDataUri(url);
  if (!isPlain && !(read?.isBase64 || isImageUri(url))) {
    throw invalidPart(i, k, ".image_url.url", "expected data:<media type>;base64,<data>");
  }
  if (/^data: *text\//.test(head)) throw invalidPart(i, k, ".image_url.url", "expected an image's media type");
  const data = read?.base64 ?? url.slice(head.length + 1);
  const ends = data.length <= 2 * CHECKED_CHARACTERS
    ? data
    : data.slice(0, CHECKED_CHARACTERS) + data.slice(-CHECKED_CHARACTERS);
  if (!BASE64.test(ends)) throw invalidPart(i, k, ".image_url.url", "expected base64 data after the comma");
}

function invalidPart(i: number, k: number, field: string, expected: string): GatewayError {
  return invalidField(`messages[${i}].content[${k}]${field}`, expected);
}
