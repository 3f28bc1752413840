import { responses } from "../../../conversation/codecs/responses/mod.ts";
import { chatEndpointAt } from "../shared/chat_endpoint.ts";
import { responsesEndpointWith } from "../shared/responses_endpoint.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/** The Chat Completions endpoint. Source: OpenAI API reference, "Chat". */
export const chatEndpoint: TextEndpoint = chatEndpointAt("/chat/completions");

/**
 * The Responses endpoint and its token counter. Source: OpenAI API reference, "Responses", "Get input token counts".
 */
export const responsesEndpoint: TextEndpoint = responsesEndpointWith({
  path: () => "/responses/input_tokens",
  write(conversation, target) {
    const { body, droppedFields } = responses.upstream.writeRequest(conversation, target);
    const { model, input, instructions, tools, tool_choice, text, reasoning } = body;
    return { body: { model, input, instructions, tools, tool_choice, text, reasoning }, droppedFields };
  },
  readCount(reply) {
    const count = (reply as { input_tokens?: unknown } | null)?.input_tokens;
    if (typeof count !== "number") throw new TypeError("Cannot read the count: no input_tokens");
    return count;
  },
});
