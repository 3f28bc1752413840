import type { Model } from "../../../vendors/catalog/model.ts";
import { hasPriceOf } from "../../../vendors/catalog/prices/price_list.ts";
import type { RequestGrammar } from "../../../conversation/contract/request_grammar.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { TextRequest } from "../plan/attempt.ts";

/** Returns the number of images in a request. It is 0, without counting, if the model has no price for images. */
export function inputImagesOf(
  { body, format: { grammar } }: Pick<TextRequest, "body" | "format">,
  model: Pick<Model, "prices">,
): number {
  return hasPriceOf(model.prices, "per_input_image") ? countIn(body[grammar.inputField], grammar) : 0;
}

function countIn(input: unknown, grammar: RequestGrammar): number {
  let count = 0;
  const pending: unknown[] = [input];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) pending.push(item);
    } else if (grammar.isImage(value as JsonObject)) count++;
    // The arguments of a call may have any shape.
    else if ((value as JsonObject).type !== "tool_use" && !("functionCall" in value)) {
      for (const item of Object.values(value)) pending.push(item);
    }
  }
  return count;
}
