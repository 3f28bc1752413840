import { chat } from "../conversation/codecs/chat/mod.ts";
import type { TextEndpoint } from "./upstream.ts";

/**
 * Chat Completions at its author and at every vendor that resembles it: only pictures can be addressed, all else must
 * be in the request; nobody counts tokens in this form.
 *
 * @param path Below the provider's base address.
 */
export function chatEndpointAt(path: string): TextEndpoint {
  return {
    format: chat.upstream,
    pass: chat.passThrough,
    path: () => path,
    mustInline: (part) => part.kind !== "image" && part.source.kind === "url",
    counter: null,
  };
}
