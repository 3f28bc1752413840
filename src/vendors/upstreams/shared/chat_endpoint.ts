import { takesToolTypes } from "../../../conversation/parts/request/custom_as_function.ts";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { takesFunctions } from "../../../conversation/codecs/chat/shared/vendor_fields.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/**
 * Chat Completions at OpenAI and at compatible vendors. Images can be sent as URLs; other media must be inline. The
 * format has no token counter.
 *
 * @param path Below the provider's base URL.
 */
export function chatEndpointAt(path: string): TextEndpoint {
  return {
    format: chat.upstream,
    passThrough: chat.passThrough,
    path: () => path,
    canPass: (outlineText, quirks) => takesToolTypes(outlineText, quirks) && takesFunctions(outlineText, quirks),
    mustInline: (part) => part.kind !== "image" && part.source.kind === "url",
    counter: null,
  };
}
