import { invalidField } from "../../../../lib/gateway_error.ts";
import type { GatewayError } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";

/** Fields beside content that make an assistant's message worth sending. */
const ASSISTANT_SAYS = ["refusal", "audio", "reasoning_content", "reasoning", "reasoning_details"] as const;

/** Ids of the calls met so far; `anonymous` when one of them had none, so that any result may be its own. */
interface CallsSeen {
  readonly ids: Set<string>;
  anonymous: boolean;
}

/**
 * Roles, contents, and that each tool result answers an earlier call. Paths are spelled only when something is wrong.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalidField("messages", "expected a non-empty array of messages");
  }
  const calls: CallsSeen = { ids: new Set(), anonymous: false };
  for (let i = 0; i < messages.length; i++) checkMessage(messages[i], i, calls);
}

function checkMessage(message: unknown, i: number, calls: CallsSeen): void {
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

function checkAssistant(message: JsonObject, i: number, calls: CallsSeen): void {
  const { content, tool_calls: toolCalls, function_call: functionCall } = message;
  const calling = toolCalls !== undefined && toolCalls !== null;
  if (calling) checkCalls(toolCalls, i, calls);
  if (content !== undefined && content !== null) return checkContent(content, i);
  if (calling && (toolCalls as unknown[]).length > 0) return;
  if (functionCall !== undefined && functionCall !== null) return;
  if (ASSISTANT_SAYS.some((field) => message[field] !== undefined && message[field] !== null)) return;
  throw invalidField(`messages[${i}].content`, "expected text, an array of parts, or tool_calls beside it");
}

function checkCalls(toolCalls: unknown, i: number, calls: CallsSeen): void {
  if (!Array.isArray(toolCalls)) throw invalidField(`messages[${i}].tool_calls`, "expected an array");
  for (let k = 0; k < toolCalls.length; k++) {
    const call = toolCalls[k];
    if (typeof call !== "object" || call === null) throw wrongCall(i, k, "", "expected an object");
    if (typeof call.id === "string" && call.id !== "") calls.ids.add(call.id);
    else if (call.id === undefined || call.id === null || call.id === "") calls.anonymous = true;
    else throw wrongCall(i, k, ".id", "expected text");
    if (call.type === "custom") {
      if (typeof call.custom?.name !== "string") throw wrongCall(i, k, ".custom.name", "expected a tool's name");
      if (typeof call.custom.input !== "string") throw wrongCall(i, k, ".custom.input", "expected text");
    } else if (call.type === undefined || call.type === null || call.type === "function") {
      if (typeof call.function?.name !== "string" || call.function.name === "") {
        throw wrongCall(i, k, ".function.name", "expected a function's name");
      }
      const type = typeof call.function.arguments;
      // An object is against the form, yet some vendors send and take one.
      if (type !== "string" && type !== "object" && type !== "undefined") {
        throw wrongCall(i, k, ".function.arguments", "expected JSON as text");
      }
    }
  }
}

function wrongCall(i: number, k: number, field: string, expected: string): GatewayError {
  return invalidField(`messages[${i}].tool_calls[${k}]${field}`, expected);
}

function checkResultId(id: unknown, i: number, calls: CallsSeen): void {
  if (typeof id !== "string") throw invalidField(`messages[${i}].tool_call_id`, "expected the id of a tool call");
  if (calls.ids.has(id) || calls.anonymous) return;
  throw invalidField(`messages[${i}].tool_call_id`, `no earlier tool call has the id "${id.slice(0, 64)}"`);
}

function checkContent(content: unknown, i: number): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) throw invalidField(`messages[${i}].content`, "expected text or an array of parts");
  for (let k = 0; k < content.length; k++) checkPart(content[k], i, k);
}

function checkPart(part: unknown, i: number, k: number): void {
  if (typeof part !== "object" || part === null) throw wrongPart(i, k, "", "expected an object");
  const fields = part as JsonObject;
  switch (fields.type) {
    case "text":
      if (typeof fields.text !== "string") throw wrongPart(i, k, ".text", "expected text");
      return;
    case "image_url":
      return checkImage(fields.image_url, i, k);
    case "input_audio": {
      const audio = fields.input_audio as JsonObject | null | undefined;
      if (typeof audio?.data !== "string") throw wrongPart(i, k, ".input_audio.data", "expected base64 text");
      if (typeof audio.format !== "string") throw wrongPart(i, k, ".input_audio.format", "expected a format's name");
      return;
    }
    case "file":
      if (typeof fields.file !== "object" || fields.file === null) {
        throw wrongPart(i, k, ".file", "expected an object");
      }
      return;
    default:
      if (typeof fields.type !== "string") throw wrongPart(i, k, ".type", "expected the kind of the part");
  }
}

const BASE64 = /^[A-Za-z0-9+/_\-\s]+={0,2}\s*$/;
/** Both ends of the data are looked at; megabytes between them are the vendor's to decode. */
const LOOKED_AT = 256;

function checkImage(image: unknown, i: number, k: number): void {
  // Some vendors take the address itself in place of the object.
  const url = typeof image === "string" ? image : (image as JsonObject | null | undefined)?.url;
  if (typeof url !== "string" || url === "") {
    throw wrongPart(i, k, ".image_url.url", "expected an address or a data: URL");
  }
  if (!url.startsWith("data:")) return;
  const comma = url.indexOf(",");
  const head = url.slice(5, Math.max(comma, 5)).toLowerCase();
  if (comma < 0 || !head.endsWith(";base64")) {
    throw wrongPart(i, k, ".image_url.url", "expected data:<media type>;base64,<data>");
  }
  if (head.startsWith("text/")) throw wrongPart(i, k, ".image_url.url", "expected an image's media type");
  const data = url.slice(comma + 1);
  const ends = data.length <= 2 * LOOKED_AT ? data : data.slice(0, LOOKED_AT) + data.slice(-LOOKED_AT);
  if (!BASE64.test(ends)) throw wrongPart(i, k, ".image_url.url", "expected base64 after the comma");
}

function wrongPart(i: number, k: number, field: string, expected: string): GatewayError {
  return invalidField(`messages[${i}].content[${k}]${field}`, expected);
}
