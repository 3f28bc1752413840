import { byFixedHeaders } from "../call/authorization.ts";
import type { EndpointPaths } from "../shared/endpoint_paths.ts";
import { openaiListing, openaiListingAt } from "../contract/model_listing.ts";
import { probeByGet } from "../shared/probe.ts";
import type { EndpointSettings } from "../contract/endpoint_settings.ts";
import type { TextEndpoint, UpstreamKind } from "../contract/upstream.ts";
import { VENDORS } from "../vendors.ts";
import { openaiImages } from "./images.ts";
import { chatEndpoint, responsesEndpoint } from "./text.ts";
import { openrouterVideos } from "./videos.ts";
import { Late } from "../../../platform/lib/process/late.ts";

/**
 * OpenRouter lists models without a key, so the key is probed here. Source: OpenRouter API reference, "Get current API
 * key".
 */
const OPENROUTER_KEY: string = `${VENDORS.openrouter.baseUrl}/key`;

/** OpenAI and compatible vendors, by base URL. Source: OpenAI API reference, "Authentication". */
export const openai = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: (settings) => textEndpoints(settings, responsesEndpoint, chatEndpoint),
  capabilities: ({ outbound, settings: { quirks } }) => ({
    images: openaiImages(outbound, documentedPath),
    videos: openrouterVideos(outbound),
    embeddings: new Late(async () =>
      (await import("./embeddings.ts")).openaiEmbeddings(outbound, documentedPath, quirks)
    ),
    moderations: new Late(async () => (await import("./moderations.ts")).openaiModerations(outbound)),
    ranks: new Late(async () => (await import("./ranks.ts")).openaiRanks(outbound, quirks)),
    speech: new Late(async () => (await import("./speech.ts")).openaiSpeech(outbound, documentedPath)),
    transcripts: new Late(async () => (await import("./transcripts.ts")).openaiTranscripts(outbound, documentedPath)),
    batches: new Late(async () => (await import("./batches.ts")).openaiBatches(outbound)),
    batched: (sending) => ({
      embeddings: new Late(async () =>
        (await import("./embeddings.ts")).openaiEmbeddings(sending, documentedPath, quirks)
      ),
      moderations: new Late(async () => (await import("./moderations.ts")).openaiModerations(sending)),
    }),
  }),
  probe: (outbound, signal) => probeByGet(outbound.pathOf(OPENROUTER_KEY) ?? "/models")(outbound, signal),
  models: openaiListing,
} satisfies UpstreamKind;

/** Vendors of the same formats whose endpoints have other paths, and which have no token counter. */
export function openaiWithPaths(pathOf: EndpointPaths): UpstreamKind {
  const responses = { ...responsesEndpoint, path: (model: string) => pathOf("/responses", model), counter: null };
  const chat = { ...chatEndpoint, path: (model: string) => pathOf("/chat/completions", model) };
  return {
    authorize: openai.authorize,
    text: (settings) => textEndpoints(settings, responses, chat),
    capabilities: ({ outbound }) => ({
      images: openaiImages(outbound, pathOf),
      embeddings: new Late(async () => (await import("./embeddings.ts")).openaiEmbeddings(outbound, pathOf)),
      speech: new Late(async () => (await import("./speech.ts")).openaiSpeech(outbound, pathOf)),
      transcripts: new Late(async () => (await import("./transcripts.ts")).openaiTranscripts(outbound, pathOf)),
    }),
    probe: (outbound, signal) => probeByGet(pathOf("/models", ""))(outbound, signal),
    models: openaiListingAt(pathOf("/models", "")),
  };
}

/** Responses is preferred for translated conversations, because it returns reasoning and accepts it in later turns. */
function textEndpoints(
  { speaks }: EndpointSettings,
  responses: TextEndpoint,
  chat: TextEndpoint,
): readonly TextEndpoint[] {
  if (speaks === "both") return [responses, chat];
  if (speaks === "chat_first") return [chat, { ...responses, isReserve: true }];
  return [speaks === "responses" ? responses : chat];
}

/** The path of every endpoint at vendors that have those of the documentation. */
function documentedPath(endpoint: string): string {
  return endpoint;
}
