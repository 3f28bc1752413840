import { byFixedHeaders } from "../call/authorization.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { dreamMachineVideos } from "./dream_machine.ts";
import { probeLuma } from "./probe.ts";
import { lumaVideos } from "./videos.ts";

const COMMON = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: () => [],
} satisfies Partial<UpstreamKind>;

/** Luma's current API. Source: Luma Agents documentation; `luma-agents` 0.3.0. */
export const luma = {
  ...COMMON,
  capabilities: ({ outbound }) => ({ videos: lumaVideos(outbound) }),
  probe: probeLuma,
} satisfies UpstreamKind;

/** Luma's earlier API, which has Ray 2. Source: Dream Machine API reference; `lumaai` 1.19.1. */
export const dreamMachine = {
  ...COMMON,
  capabilities: ({ outbound }) => ({ videos: dreamMachineVideos(outbound) }),
  probe: probeByGet("/credits"),
} satisfies UpstreamKind;
