import type { RequestTarget } from "../../../upstream_format.ts";
import type { Written } from "../../../written.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation } from "../../../conversation.ts";
import { readCounter } from "../../../usage.ts";
import { isObject } from "../../../wire_value.ts";
import { writeRequest } from "./write_request.ts";

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
