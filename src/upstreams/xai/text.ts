import { chatEndpointAt } from "../chat_endpoint.ts";
import { responsesEndpointWith } from "../responses_endpoint.ts";
import type { TextEndpoint } from "../upstream.ts";

/** The Chat Completions endpoint of xAI. Source: xAI API reference, "Chat completions". */
export const chatEndpoint: TextEndpoint = chatEndpointAt("/chat/completions");

/** The Responses endpoint of xAI, which has no token counter. Source: xAI API reference, "Responses". */
export const responsesEndpoint: TextEndpoint = responsesEndpointWith(null);
