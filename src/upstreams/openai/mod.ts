import { byFixedHeaders } from "../authorization.ts";
import { openaiListing } from "../model_listing.ts";
import { probeByGet } from "../probe.ts";
import type { UpstreamKind } from "../upstream.ts";
import { openaiImages } from "./images.ts";
import { chatEndpoint, responsesEndpoint } from "./text.ts";
import { openrouterVideos } from "./videos.ts";

/**
 * OpenRouter lists models without a key, so the key is probed here. Source: OpenRouter API reference, "Get current API
 * key".
 */
const OPENROUTER_KEY = "https://openrouter.ai/api/v1/key";

/** OpenAI and compatible vendors, by base URL. Source: OpenAI API reference, "Authentication". */
export const openai = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text({ speaks }) {
    // Responses is preferred for translated conversations, because it returns reasoning and accepts it in later turns.
    if (speaks === "both") return [responsesEndpoint, chatEndpoint];
    return [speaks === "responses" ? responsesEndpoint : chatEndpoint];
  },
  images: openaiImages,
  videos: openrouterVideos,
  lazy: {
    embeddings: async (outbound) => (await import("./embeddings.ts")).openaiEmbeddings(outbound),
    moderations: async (outbound) => (await import("./moderations.ts")).openaiModerations(outbound),
    ranks: async (outbound) => (await import("./ranks.ts")).openaiRanks(outbound),
    speech: async (outbound) => (await import("./speech.ts")).openaiSpeech(outbound),
    transcripts: async (outbound) => (await import("./transcripts.ts")).openaiTranscripts(outbound),
  },
  probe: (outbound, signal) => probeByGet(outbound.pathOf(OPENROUTER_KEY) ?? "/models")(outbound, signal),
  models: openaiListing,
} satisfies UpstreamKind;
