import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { readCounter } from "../../../neutral/usage.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { writeRequest } from "./write_request.ts";

/**
 * Writes a `countTokens` request. It uses the longer of the two shapes, because only that includes instructions and
 * tools.
 *
 * @throws {GatewayError} As `writeRequest`.
 */
export function writeCountRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const { body: { store: _notCounted, ...body }, droppedFields } = writeRequest(conversation, target);
  const model = /^(models|tunedModels|publishers|projects)\//.test(target.model)
    ? target.model
    : `models/${target.model}`;
  return { body: { generateContentRequest: { model, ...body } }, droppedFields };
}

/**
 * Reads the number of tokens in a `countTokens` reply.
 *
 * @throws {TypeError} If it is not such a reply.
 */
export function readCount(body: unknown): number {
  if (!isObject(body) || typeof body.totalTokens !== "number") {
    throw new TypeError('Cannot read the token count: expected an object with "totalTokens"');
  }
  return readCounter(body.totalTokens);
}
