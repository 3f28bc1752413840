import { invalidField } from "../../../../lib/gateway_error.ts";
import type { RequestTarget } from "../../../upstream_format.ts";
import type { Written } from "../../../written.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation } from "../../../conversation.ts";
import { readCounter } from "../../../usage.ts";
import { isObject } from "../../../wire_value.ts";
import { checkRequest } from "../caller/check.ts";
import { refuseDoubleSpellings } from "../caller/double_spellings.ts";
import { field, spellingOf } from "./fields.ts";
import { readRequest } from "../caller/read_request.ts";
import { writeRequest } from "../upstream/write_request.ts";

/**
 * Reads a `countTokens` request: `{contents, …}` or `{generateContentRequest: {…}}`. As in `readRequest`, the model of
 * the path stands in `body.model`; it wins over the one in the inner request.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readCountRequest(body: JsonObject): Conversation {
  refuseDoubleSpellings(body);
  const inner = field(body, "generateContentRequest");
  if (inner === undefined) return readCheckedRequest(body);
  if (!isObject(inner)) throw invalidField(spellingOf(body, "generateContentRequest"), "expected an object");
  return readCheckedRequest({ ...inner, model: body.model ?? inner.model });
}

function readCheckedRequest(body: JsonObject): Conversation {
  checkRequest(body);
  return readRequest(body);
}

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

/** A `countTokens` reply. */
export function writeCount(totalTokens: number): JsonObject {
  return { totalTokens };
}
