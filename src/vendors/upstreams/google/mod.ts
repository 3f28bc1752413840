import { byFixedHeaders } from "../call/authorization.ts";
import { googleListing } from "../shared/capability_listings.ts";
import { geminiPath } from "../shared/model_paths.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { googleCaches } from "./caches.ts";
import { googleImages } from "./images.ts";
import { contentEndpoint } from "./text.ts";
import { googleVideos } from "./videos.ts";
import { Late } from "../../../platform/lib/process/late.ts";

/** Google's Gemini API. Source: Gemini API reference, "Authentication". */
export const google = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-goog-api-key": apiKey })),
  text: () => [contentEndpoint],
  capabilities: ({ outbound }) => ({
    images: googleImages(outbound),
    videos: googleVideos(outbound),
    caches: googleCaches(outbound),
    embeddings: new Late(async () => (await import("./embeddings.ts")).googleEmbeddings(outbound)),
    speech: new Late(async () => (await import("../shared/content_speech.ts")).contentSpeech(outbound, geminiPath)),
    transcripts: new Late(async () =>
      (await import("../shared/content_transcripts.ts")).contentTranscripts(outbound, geminiPath)
    ),
    batches: new Late(async () => (await import("./batches.ts")).googleBatches(outbound)),
    batched: (sending) => ({
      embeddings: new Late(async () => (await import("./embeddings.ts")).googleBatchedEmbeddings(sending)),
    }),
  }),
  probe: probeByGet("/v1beta/models?pageSize=1"),
  models: googleListing,
} satisfies UpstreamKind;
