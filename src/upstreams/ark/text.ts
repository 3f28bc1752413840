import { chatEndpointAt } from "../chat_endpoint.ts";
import type { TextEndpoint } from "../upstream.ts";

/** The Chat Completions endpoint of Ark. Source: Ark API reference, "Chat API". */
export const chatEndpoint: TextEndpoint = chatEndpointAt("/chat/completions");
