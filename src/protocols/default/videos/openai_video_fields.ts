import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/**
 * Converts `seconds` of OpenAI's video API in a create request to `duration`. Other fields are unchanged. Source:
 * OpenAI API reference, "Create video".
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function withOpenaiFields({ seconds, ...body }: JsonObject): JsonObject {
  return { ...body, ...durationIn(seconds, body) };
}

function durationIn(seconds: unknown, { duration }: JsonObject): JsonObject {
  if (isMissing(seconds)) return {};
  const isWhole = typeof seconds === "number" ? Number.isInteger(seconds) : /^[0-9]{1,4}$/.test(String(seconds));
  if (!isWhole) throw invalidField("seconds", "expected whole seconds");
  if (!isMissing(duration) && duration !== Number(seconds)) {
    throw invalidField("seconds", "expected it to be the same as duration, or one of the two");
  }
  return { duration: Number(seconds) };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
