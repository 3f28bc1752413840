import { takesToolTypes } from "../../../conversation/parts/request/custom_as_function.ts";
import { responses } from "../../../conversation/codecs/responses/mod.ts";
import type { TextEndpoint, TokenCounter } from "../contract/upstream.ts";

/**
 * The Responses endpoint of OpenAI and of compatible vendors.
 *
 * @param counter The vendor's token counter; null if it has none.
 */
export function responsesEndpointWith(counter: TokenCounter | null): TextEndpoint {
  return {
    format: responses.upstream,
    passThrough: responses.passThrough,
    path: () => "/responses",
    mustInline: () => false,
    canPass: takesToolTypes,
    counter,
  };
}
