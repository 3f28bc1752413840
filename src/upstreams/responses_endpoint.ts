import { responses } from "../conversation/codecs/responses/mod.ts";
import type { TextEndpoint, TokenCounter } from "./upstream.ts";

/** Tools of OpenAI alone, and calls of such tools. Codex offers them. */
const CUSTOM_TOOLS = /"type"\s*:\s*"(?:custom|namespace|custom_tool_call|custom_tool_call_output)"/;

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
    canPass: (outlineText, quirks) => !quirks.has("no_custom_tools") || !CUSTOM_TOOLS.test(outlineText),
    counter,
  };
}
