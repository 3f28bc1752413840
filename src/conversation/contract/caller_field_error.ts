import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { CallerFormat } from "./caller_format.ts";

/**
 * Replaces the neutral field name in an error of a request writer by the caller's name of the field.
 *
 * @param thrown What the writer threw. Anything other than `invalid_request` with a field of the request is returned
 * unchanged.
 */
export function withCallerFieldName(
  thrown: unknown,
  format: Pick<CallerFormat, "droppedFields">,
  body: JsonObject,
): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== "invalid_request") return thrown;
  const { field } = thrown.details;
  const [sent] = field === undefined ? [] : format.droppedFields(body, [field]);
  if (field === undefined || sent === undefined) return thrown;
  const message = thrown.message.replace(`"${field}"`, `"${sent}"`);
  return new GatewayError(thrown.code, message, { ...thrown.details, field: sent });
}
