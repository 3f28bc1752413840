import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { readCounter } from "../../../neutral/usage.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { writeRequest } from "./write_request.ts";

/** The fields that the vendor accepts in a request to count tokens. */
const COUNTED = ["model", "system", "messages", "tools", "tool_choice", "thinking", "output_config"];

/** Writes the request to count the tokens of a conversation. */
export function writeCountRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const { body, droppedFields } = writeRequest(conversation, target);
  return { body: Object.fromEntries(Object.entries(body).filter(([field]) => COUNTED.includes(field))), droppedFields };
}

/**
 * Reads the number of tokens in a vendor's reply.
 *
 * @throws {TypeError} If it has none.
 */
export function readCount(body: unknown): number {
  if (!isObject(body) || typeof body.input_tokens !== "number") {
    throw new TypeError('Cannot read the token count: expected an object with "input_tokens"');
  }
  return readCounter(body.input_tokens);
}
