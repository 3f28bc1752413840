import { byFixedHeaders } from "../call/authorization.ts";
import { anthropicListing } from "../shared/capability_listings.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { messagesEndpoint } from "./text.ts";
import { Late } from "../../../platform/lib/process/late.ts";

/** Anthropic. Source: Messages API reference, "Authentication" and "Versions". */
export const anthropic = {
  authorize: byFixedHeaders(({ apiKey }) => ({ "x-api-key": apiKey })),
  requiredHeaders: { "anthropic-version": "2023-06-01" },
  text: () => [messagesEndpoint],
  capabilities: ({ outbound }) => ({
    batches: new Late(async () => (await import("./batches.ts")).anthropicBatches(outbound)),
  }),
  probe: probeByGet("/v1/models?limit=1"),
  models: anthropicListing,
} satisfies UpstreamKind;
