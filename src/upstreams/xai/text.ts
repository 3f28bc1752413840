import { chat } from "../../conversation/codecs/chat/mod.ts";
import { responses } from "../../conversation/codecs/responses/mod.ts";
import type { TextEndpoint } from "../upstream.ts";

/** Chat Completions, as xAI resembles them. Source: xAI API reference, "Chat completions". */
export const chatEndpoint: TextEndpoint = {
  codec: chat,
  path: () => "/chat/completions",
  mustInline: (part) => part.kind !== "image" && part.source.kind === "url",
  counter: null,
};

/** Responses, as xAI resembles them; it counts no tokens ahead. Source: xAI API reference, "Responses". */
export const responsesEndpoint: TextEndpoint = {
  codec: responses,
  path: () => "/responses",
  mustInline: () => false,
  counter: null,
};
