import { responses } from "../conversation/codecs/responses/mod.ts";
import type { TextEndpoint, TokenCounter } from "./upstream.ts";

/**
 * Responses at its author and at every vendor that resembles it.
 *
 * @param counter The vendor's token counter; null where it has none.
 */
export function responsesEndpointWith(counter: TokenCounter | null): TextEndpoint {
  return { codec: responses, path: () => "/responses", mustInline: () => false, counter };
}
