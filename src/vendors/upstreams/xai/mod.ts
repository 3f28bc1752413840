import { byFixedHeaders } from "../call/authorization.ts";
import { openaiListing } from "../contract/model_listing.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { xaiImages } from "./images.ts";
import { chatEndpoint, responsesEndpoint } from "./text.ts";
import { xaiVideos } from "./videos.ts";

/** xAI. Source: xAI API reference, "Authentication". */
export const xai = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text({ speaks }) {
    if (speaks === "both" || speaks === "chat_first") return [responsesEndpoint, chatEndpoint];
    return [speaks === "responses" ? responsesEndpoint : chatEndpoint];
  },
  capabilities: ({ outbound }) => ({ images: xaiImages(outbound), videos: xaiVideos(outbound) }),
  probe: probeByGet("/models"),
  models: openaiListing,
} satisfies UpstreamKind;
