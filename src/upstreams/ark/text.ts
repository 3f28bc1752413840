import { chatEndpointAt } from "../chat_endpoint.ts";
import type { TextEndpoint } from "../upstream.ts";

/** Chat Completions, as Ark resembles them. Source: Ark API reference, "Chat API". */
export const chatEndpoint: TextEndpoint = chatEndpointAt("/chat/completions");
