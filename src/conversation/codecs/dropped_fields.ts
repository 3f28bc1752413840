import { GatewayError } from "../../lib/gateway_error.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import type { Form } from "../seal.ts";
import { type LossPaths, sentNames } from "../sent_names.ts";
import { LOSS_PATHS as chat } from "./chat/caller/loss_paths.ts";
import { LOSS_PATHS as content } from "./content/caller/loss_paths.ts";
import { LOSS_PATHS as messages } from "./messages/caller/loss_paths.ts";
import { LOSS_PATHS as responses } from "./responses/caller/loss_paths.ts";

const PATHS: Readonly<Record<Form, LossPaths>> = { chat, content, messages, responses };

/**
 * The fields of a request that a vendor could not be told, as the caller spelled them.
 *
 * @param format The caller's.
 * @param losses Neutral names, from the writer of the vendor's format.
 */
export function droppedFields(format: Form, body: JsonObject, losses: readonly string[]): string[] {
  return sentNames(body, losses, PATHS[format], format === "content");
}

/**
 * A writer's refusal as the caller is told it: with the caller's own name of the field, where the request holds one.
 *
 * @param thrown What the writer threw; its field is a neutral name. Anything else is given back as it is.
 */
export function refusalInSentWords(thrown: unknown, format: Form, body: JsonObject): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== "invalid_request") return thrown;
  const { field } = thrown.details;
  const [sent] = field === undefined ? [] : droppedFields(format, body, [field]);
  if (field === undefined || sent === undefined) return thrown;
  const message = thrown.message.replace(`"${field}"`, `"${sent}"`);
  return new GatewayError(thrown.code, message, { ...thrown.details, field: sent });
}
