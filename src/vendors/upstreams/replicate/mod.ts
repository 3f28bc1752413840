import { byFixedHeaders } from "../call/authorization.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { replicateImages } from "./images.ts";
import { replicateVideos } from "./videos.ts";

/**
 * Replicate, which runs models of many makers. Source: Replicate HTTP API reference, "Authentication", "Get account".
 */
export const replicate = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: () => [],
  capabilities: ({ outbound, clock }) => ({
    images: replicateImages(outbound, clock),
    videos: replicateVideos(outbound),
  }),
  probe: probeByGet("/account"),
} satisfies UpstreamKind;
