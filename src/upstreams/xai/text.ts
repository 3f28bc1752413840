import { chatEndpointAt } from "../chat_endpoint.ts";
import { responsesEndpointWith } from "../responses_endpoint.ts";
import type { TextEndpoint } from "../upstream.ts";

/** Chat Completions, as xAI resembles them. Source: xAI API reference, "Chat completions". */
export const chatEndpoint: TextEndpoint = chatEndpointAt("/chat/completions");

/** Responses, as xAI resembles them; it counts no tokens ahead. Source: xAI API reference, "Responses". */
export const responsesEndpoint: TextEndpoint = responsesEndpointWith(null);
