import { byFixedHeaders } from "../call/authorization.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { runwayVideos } from "./videos.ts";

/** Runway. Source: Runway API reference, "Versioning"; `@runwayml/sdk` 4.20.1. */
export const runway = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  requiredHeaders: { "x-runway-version": "2024-11-06" },
  text: () => [],
  capabilities: ({ outbound }) => ({ videos: runwayVideos(outbound) }),
  probe: probeByGet("/v1/organization"),
} satisfies UpstreamKind;
