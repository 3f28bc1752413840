import type { RequestTarget } from "../../../upstream_format.ts";
import type { Written } from "../../../written.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation } from "../../../conversation.ts";
import { readCounter } from "../../../usage.ts";
import { isObject } from "../../../wire_value.ts";
import { writeRequest } from "./write_request.ts";

/**
 * Writes a `countTokens` request. The whole request is counted, instructions and tools included, which only the longer
 * of the two shapes can say.
 *
 * @throws {GatewayError} As `writeRequest`.
 */
export function writeCountRequest(conversation: Conversation, target: RequestTarget): Written<JsonObject> {
  const { body, losses } = writeRequest(conversation, target);
  const model = /^(models|tunedModels|publishers|projects)\//.test(target.model)
    ? target.model
    : `models/${target.model}`;
  return { body: { generateContentRequest: { model, ...body } }, losses };
}

/**
 * The number of tokens that a `countTokens` reply tells.
 *
 * @throws {TypeError} If it is no such reply.
 */
export function readCount(body: unknown): number {
  if (!isObject(body) || typeof body.totalTokens !== "number") {
    throw new TypeError("Cannot read the count: expected totalTokens");
  }
  return readCounter(body.totalTokens);
}
