import type { RequestTarget } from "../../../upstream_format.ts";
import type { Written } from "../../../written.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation } from "../../../conversation.ts";
import { readCounter } from "../../../usage.ts";
import { checkRequest } from "../caller/check.ts";
import { isObject } from "../../../wire_value.ts";
import { readRequest } from "../caller/read_request.ts";
import { writeRequest } from "../upstream/write_request.ts";

/**
 * The rules of a request to count tokens that hold for every vendor, checked also when the bytes pass through.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkCountRequest(body: JsonObject): void {
  checkRequest(body, false);
}

/**
 * Reads a request to count tokens: that of a message without `max_tokens` and `stream`.
 * Source: Messages API reference, "Count tokens in a Message".
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readCountRequest(body: JsonObject): Conversation {
  checkCountRequest(body);
  return { ...readRequest(body, false), stream: false };
}

/** What the vendor takes in a request to count tokens. */
const COUNTED = ["model", "system", "messages", "tools", "tool_choice", "thinking", "output_config"];

/** The request by which a vendor of this form counts the tokens of a conversation. */
export function writeCountRequest(conversation: Conversation, target: RequestTarget): Written<JsonObject> {
  const { body, losses } = writeRequest(conversation, target);
  return { body: Object.fromEntries(Object.entries(body).filter(([field]) => COUNTED.includes(field))), losses };
}

/**
 * The number of tokens in a vendor's answer.
 *
 * @throws {TypeError} If it holds none.
 */
export function readCount(body: unknown): number {
  if (!isObject(body) || typeof body.input_tokens !== "number") {
    throw new TypeError('No count of tokens: expected an object with "input_tokens"');
  }
  return readCounter(body.input_tokens);
}

/** The answer to a request to count tokens. */
export function writeCount(inputTokens: number): JsonObject {
  return { input_tokens: inputTokens };
}
