import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation } from "../../../conversation.ts";
import { checkRequest } from "./check.ts";
import { readRequest } from "./read_request.ts";

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

/** The answer to a request to count tokens. */
export function writeCount(inputTokens: number): JsonObject {
  return { input_tokens: inputTokens };
}
