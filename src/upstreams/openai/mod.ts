import { byFixedHeaders } from "../authorization.ts";
import { openaiListing } from "../model_listing.ts";
import { probeByGet } from "../probe.ts";
import type { UpstreamKind } from "../upstream.ts";
import { openaiImages } from "./images.ts";
import { chatEndpoint, responsesEndpoint } from "./text.ts";
import { openrouterVideos } from "./videos.ts";

/** Who lists models to everybody tells of a key elsewhere. Source: OpenRouter API reference, "Get current API key". */
const OPENROUTER_KEY = "https://openrouter.ai/api/v1/key";

/** OpenAI, and every vendor that resembles it, by base address. Source: OpenAI API reference, "Authentication". */
export const openai = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text({ speaks }) {
    // Responses shows reasoning and carries it from turn to turn, so translated conversations go there first.
    if (speaks === "both") return [responsesEndpoint, chatEndpoint];
    return [speaks === "responses" ? responsesEndpoint : chatEndpoint];
  },
  images: openaiImages,
  videos: openrouterVideos,
  probe: (outbound, signal) => probeByGet(outbound.pathOf(OPENROUTER_KEY) ?? "/models")(outbound, signal),
  models: openaiListing,
} satisfies UpstreamKind;
