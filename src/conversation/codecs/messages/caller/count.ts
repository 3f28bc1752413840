import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { checkRequest } from "./check.ts";
import { readRequest } from "./read_request.ts";

/**
 * Checks a request to count tokens, also when the bytes pass through.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkCountRequest(body: JsonObject): void {
  checkRequest(body, false);
}

/**
 * Reads a request to count tokens: a message request without `max_tokens` and `stream`.
 * Source: Messages API reference, "Count tokens in a Message".
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readCountRequest(body: JsonObject): Conversation {
  checkCountRequest(body);
  return { ...readRequest(body, false), stream: false };
}

/** Writes the reply to a request to count tokens. */
export function writeCount(inputTokens: number): JsonObject {
  return { input_tokens: inputTokens };
}
