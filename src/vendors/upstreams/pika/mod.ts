import { byFixedHeaders } from "../call/authorization.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { pikaVideos } from "./videos.ts";

/** Pika's own models. Source: Pika API documentation, "Quick start", as its clients follow it (autumn 2026). */
export const pika = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-api-key": apiKey })),
  text: () => [],
  capabilities: ({ outbound }) => ({ videos: pikaVideos(outbound) }),
  probe: probeByGet("/billing/balance"),
} satisfies UpstreamKind;
