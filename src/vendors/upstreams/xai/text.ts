import { chatEndpointAt } from "../shared/chat_endpoint.ts";
import { responsesEndpointWith } from "../shared/responses_endpoint.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/**
 * The Chat Completions endpoint of xAI. Sources: xAI API reference, "Chat completions"; guide "Maximizing Cache Hits"
 * for the key of the cache.
 */
export const chatEndpoint: TextEndpoint = {
  ...chatEndpointAt("/chat/completions"),
  cacheKeyIn: { header: "x-grok-conv-id" },
};

/** The Responses endpoint of xAI, which has no token counter. Source: xAI API reference, "Responses". */
export const responsesEndpoint: TextEndpoint = { ...responsesEndpointWith(null), cacheKeyIn: "body" };
