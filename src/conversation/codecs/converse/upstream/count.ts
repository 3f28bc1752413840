import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import { readCounter } from "../../../neutral/usage.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import { writeRequest } from "./write_request.ts";

/** The fields of a request that its count accepts. */
const COUNTED = ["messages", "system", "toolConfig", "additionalModelRequestFields"];

/** Writes the request to count the tokens of a conversation. Source: Amazon Bedrock API reference, "CountTokens". */
export function writeCountRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const { body, droppedFields } = writeRequest(conversation, target);
  const counted = Object.fromEntries(Object.entries(body).filter(([field]) => COUNTED.includes(field)));
  return { body: { input: { converse: counted } }, droppedFields };
}

/**
 * Reads the number of tokens in a vendor's reply.
 *
 * @throws {TypeError} If it has none.
 */
export function readCount(body: unknown): number {
  if (!isObject(body) || typeof body.inputTokens !== "number") {
    throw new TypeError('Cannot read the token count: expected an object with "inputTokens"');
  }
  return readCounter(body.inputTokens);
}
