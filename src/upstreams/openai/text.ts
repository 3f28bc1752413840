import { chat } from "../../conversation/codecs/chat/mod.ts";
import { responses } from "../../conversation/codecs/responses/mod.ts";
import type { TextEndpoint } from "../upstream.ts";

/** Chat Completions: only pictures can be addressed. No counter: the vendor counts only in its newer form. */
export const chatEndpoint: TextEndpoint = {
  codec: chat,
  path: () => "/chat/completions",
  mustInline: (part) => part.kind !== "image" && part.source.kind === "url",
  counter: null,
};

/** Responses. Source: OpenAI API reference, "Responses", "Get input token counts". */
export const responsesEndpoint: TextEndpoint = {
  codec: responses,
  path: () => "/responses",
  mustInline: () => false,
  counter: {
    path: () => "/responses/input_tokens",
    write(conversation, target) {
      const { body, losses } = responses.writeRequest(conversation, target);
      const { model, input, instructions, tools, tool_choice, text, reasoning } = body;
      return { body: { model, input, instructions, tools, tool_choice, text, reasoning }, losses };
    },
    readCount(reply) {
      const count = (reply as { input_tokens?: unknown } | null)?.input_tokens;
      if (typeof count !== "number") throw new TypeError("Cannot read the count: no input_tokens");
      return count;
    },
  },
};
