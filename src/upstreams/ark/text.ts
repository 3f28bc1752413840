import { chat } from "../../conversation/codecs/chat/mod.ts";
import type { TextEndpoint } from "../upstream.ts";

/** Chat Completions, as Ark resembles them. Source: Ark API reference, "Chat API". */
export const chatEndpoint: TextEndpoint = {
  codec: chat,
  path: () => "/chat/completions",
  mustInline: (part) => part.kind !== "image" && part.source.kind === "url",
  counter: null,
};
