import type { Model } from "../catalog/model.ts";
import type { RequestedLimit } from "../conversation/caller_format.ts";
import { invalidField } from "../lib/gateway_error.ts";

/**
 * Refuses a limit above the model's own.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function refuseBeyondLimit(requested: RequestedLimit | null, model: Model): void {
  const most = model.topProvider.maxCompletionTokens;
  if (requested && most > 0 && requested.tokens > most) {
    throw invalidField(requested.field, `expected at most ${most} for "${model.id}", got ${requested.tokens}`);
  }
}
