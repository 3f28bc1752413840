import { byFixedHeaders } from "../call/authorization.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { viduVideos } from "./videos.ts";

/** Vidu. Source: Vidu API documentation, "Text to Video", "Search Credits". */
export const vidu = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Token ${apiKey}` })),
  text: () => [],
  capabilities: ({ outbound }) => ({ videos: viduVideos(outbound) }),
  probe: probeByGet("/ent/v2/credits?show_detail=false"),
} satisfies UpstreamKind;
