import { responses } from "../conversation/codecs/responses/mod.ts";
import type { TextEndpoint, TokenCounter } from "./upstream.ts";

/**
 * Responses at its author and at every vendor that resembles it.
 *
 * @param counter The vendor's token counter; null where it has none.
 */
export function responsesEndpointWith(counter: TokenCounter | null): TextEndpoint {
  return {
    format: responses.upstream,
    pass: responses.passThrough,
    path: () => "/responses",
    mustInline: () => false,
    counter,
  };
}
