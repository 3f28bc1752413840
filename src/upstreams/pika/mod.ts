import { byFixedHeaders } from "../authorization.ts";
import { probeByGet } from "../probe.ts";
import type { UpstreamKind } from "../upstream.ts";
import { pikaVideos } from "./videos.ts";

/** Pika's own models. Source: Pika API documentation, "Quick start", as its clients follow it (autumn 2026). */
export const pika = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-api-key": apiKey })),
  text: () => [],
  capabilities: ({ outbound }) => ({ videos: pikaVideos(outbound) }),
  probe: probeByGet("/billing/balance"),
} satisfies UpstreamKind;
