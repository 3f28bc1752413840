import { byFixedHeaders } from "../authorization.ts";
import { googleListing } from "../capability_listings.ts";
import { geminiPath } from "../model_paths.ts";
import { probeByGet } from "../probe.ts";
import type { UpstreamKind } from "../upstream.ts";
import { googleCaches } from "./caches.ts";
import { googleImages } from "./images.ts";
import { contentEndpoint } from "./text.ts";
import { googleVideos } from "./videos.ts";
import { Late } from "../../lib/late.ts";

/** Google's Gemini API. Source: Gemini API reference, "Authentication". */
export const google = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-goog-api-key": apiKey })),
  text: () => [contentEndpoint],
  capabilities: ({ outbound }) => ({
    images: googleImages(outbound),
    videos: googleVideos(outbound),
    caches: googleCaches(outbound),
    embeddings: new Late(async () => (await import("./embeddings.ts")).googleEmbeddings(outbound)),
    speech: new Late(async () => (await import("../content_speech.ts")).contentSpeech(outbound, geminiPath)),
    transcripts: new Late(async () =>
      (await import("../content_transcripts.ts")).contentTranscripts(outbound, geminiPath)
    ),
  }),
  probe: probeByGet("/v1beta/models?pageSize=1"),
  models: googleListing,
} satisfies UpstreamKind;
