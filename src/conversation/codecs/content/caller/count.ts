import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { checkRequest } from "./check.ts";
import { rejectDoubleSpellings } from "./double_spellings.ts";
import { field, spellingOf } from "../shared/fields.ts";
import { readRequest } from "./read_request.ts";

/**
 * Reads a `countTokens` request: `{contents, …}` or `{generateContentRequest: {…}}`. As in `readRequest`, the model of
 * the path is in `body.model`; it takes precedence over the model in the inner request.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readCountRequest(body: JsonObject): Conversation {
  rejectDoubleSpellings(body);
  const inner = field(body, "generateContentRequest");
  if (inner === undefined) return readCheckedRequest(body);
  if (!isObject(inner)) throw invalidField(spellingOf(body, "generateContentRequest"), "expected an object");
  return readCheckedRequest({ ...inner, model: body.model ?? inner.model });
}

function readCheckedRequest(body: JsonObject): Conversation {
  checkRequest(body);
  return readRequest(body);
}

/** Writes a `countTokens` reply. */
export function writeCount(totalTokens: number): JsonObject {
  return { totalTokens };
}
