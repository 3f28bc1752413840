import { chatEndpointAt } from "../shared/chat_endpoint.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/** The Chat Completions endpoint of MiniMax. Source: MiniMax API reference, "Text generation, OpenAI compatible". */
export const chatEndpoint: TextEndpoint = chatEndpointAt("/v1/chat/completions");
