import { byFixedHeaders } from "../call/authorization.ts";
import { chatEndpointAt } from "../shared/chat_endpoint.ts";
import { probeByGet } from "../shared/probe.ts";
import type { EndpointSettings } from "../contract/endpoint_settings.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { contentEndpoint } from "./content_endpoint.ts";
import { messagesEndpoint } from "./messages_endpoint.ts";
import { googlePaths, publisherOf } from "./publisher.ts";
import { vertexVideos } from "./videos.ts";
import { Late } from "../../../platform/lib/process/late.ts";

/**
 * Google's Vertex AI: the models of Google, of Anthropic, and of other publishers in the chat format. Tokens of a
 * service account authorize requests, see `provider_tokens.ts`. Source: Vertex AI REST reference, "publishers.models";
 * "Use API keys".
 */
export const vertex = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-goog-api-key": apiKey })),
  text(settings) {
    const resource = resourceOf(settings);
    return [
      contentEndpoint(`/v1beta1/${resource}`),
      messagesEndpoint(`/v1/${resource}`),
      {
        ...chatEndpointAt(`/v1/${resource}/endpoints/openapi/chat/completions`),
        serves: (model) => publisherOf(model) === null,
      },
    ];
  },
  capabilities({ outbound, settings }) {
    const paths = googlePaths(`/v1beta1/${resourceOf(settings)}`);
    return {
      videos: vertexVideos(outbound, googlePaths(`/v1/${resourceOf(settings)}`)),
      embeddings: new Late(async () => (await import("./embeddings.ts")).vertexEmbeddings(outbound, paths)),
      speech: new Late(async () => (await import("../shared/content_speech.ts")).contentSpeech(outbound, paths)),
      transcripts: new Late(async () =>
        (await import("../shared/content_transcripts.ts")).contentTranscripts(outbound, paths)
      ),
    };
  },
  // The list of Google's models, which needs a valid token and no project.
  probe: probeByGet("/v1beta1/publishers/google/models?pageSize=1"),
} satisfies UpstreamKind;

function resourceOf({ vertex: { project, location } = { project: "", location: "" } }: EndpointSettings): string {
  return `projects/${encodeURIComponent(project)}/locations/${location}`;
}
