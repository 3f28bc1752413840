import { byFixedHeaders } from "../call/authorization.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { bflImages } from "./images.ts";

/** Black Forest Labs. Source: BFL API reference, "Authentication", "Get credits". */
export const bfl = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-key": apiKey })),
  text: () => [],
  capabilities: ({ outbound, clock }) => ({ images: bflImages(outbound, clock) }),
  probe: probeByGet("/credits"),
} satisfies UpstreamKind;
