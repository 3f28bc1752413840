import { chat } from "../conversation/codecs/chat/mod.ts";
import { DOCUMENTED_PATHS, type EndpointPaths } from "./endpoint_paths.ts";
import type { TextEndpoint } from "./upstream.ts";

/**
 * Chat Completions at OpenAI and at compatible vendors. Images can be sent as URLs; other media must be inline. The
 * format has no token counter.
 *
 * @param endpoint The path below the provider's base URL, before `pathOf` is applied.
 */
export function chatEndpointAt(endpoint: string, pathOf: EndpointPaths = DOCUMENTED_PATHS): TextEndpoint {
  return {
    format: chat.upstream,
    passThrough: chat.passThrough,
    path: (model) => pathOf(endpoint, model),
    mustInline: (part) => part.kind !== "image" && part.source.kind === "url",
    counter: null,
  };
}
