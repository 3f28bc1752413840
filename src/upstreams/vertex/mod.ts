import { byFixedHeaders } from "../authorization.ts";
import { chatEndpointAt } from "../chat_endpoint.ts";
import { probeByGet } from "../probe.ts";
import type { UpstreamKind } from "../upstream.ts";
import { contentEndpoint } from "./content_endpoint.ts";
import { messagesEndpoint } from "./messages_endpoint.ts";
import { publisherOf } from "./publisher.ts";

/**
 * Google's Vertex AI: the models of Google, of Anthropic, and of other publishers in the chat format. Tokens of a
 * service account authorize requests, see `provider_tokens.ts`. Source: Vertex AI REST reference, "publishers.models";
 * "Use API keys".
 */
export const vertex = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-goog-api-key": apiKey })),
  text({ vertex: { project, location } = { project: "", location: "" } }) {
    const resource = `projects/${encodeURIComponent(project)}/locations/${location}`;
    return [
      contentEndpoint(`/v1beta1/${resource}`),
      messagesEndpoint(`/v1/${resource}`),
      {
        ...chatEndpointAt(`/v1/${resource}/endpoints/openapi/chat/completions`),
        serves: (model) => publisherOf(model) === null,
      },
    ];
  },
  images: () => null,
  videos: () => null,
  // The list of Google's models, which needs a valid token and no project.
  probe: probeByGet("/v1beta1/publishers/google/models?pageSize=1"),
} satisfies UpstreamKind;
