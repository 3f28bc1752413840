import { chatEndpointAt } from "../shared/chat_endpoint.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/** The Chat Completions endpoint of Ark. Source: Ark API reference, "Chat API". */
export const chatEndpoint: TextEndpoint = chatEndpointAt("/chat/completions");
