import { chat } from "../../conversation/codecs/chat/mod.ts";
import type { TextEndpoint } from "../upstream.ts";

/** Chat Completions, as MiniMax resembles them. Source: MiniMax API reference, "Text generation, OpenAI compatible". */
export const chatEndpoint: TextEndpoint = {
  codec: chat,
  path: () => "/v1/chat/completions",
  mustInline: (part) => part.kind !== "image" && part.source.kind === "url",
  counter: null,
};
