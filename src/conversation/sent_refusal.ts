import { GatewayError } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { CallerFormat } from "./caller_format.ts";

/**
 * A writer's refusal as the caller is told it: with the caller's own name of the field, where the request holds one.
 *
 * @param thrown What the writer threw; its field is a neutral name. Anything else is given back as it is.
 */
export function refusalInSentWords(
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
