import { MESSAGE_FORMAT } from "../shared/format_name.ts";
import { isSupportedTier } from "../../../parts/request/service_tier.ts";
import { sseStreamReader } from "../../../parts/reply/stream_reader.ts";
import type { UpstreamFormat } from "../../../contract/upstream_format.ts";
import { hasWebSearch } from "./model_traits.ts";
import { readUsage } from "../shared/usage.ts";
import { readError, refusesReasoning } from "./error.ts";
import { eventReader } from "./event_reader.ts";
import { readReply } from "./read_reply.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { writeRequest } from "./write_request.ts";

/**
 * The vendor side of the message protocol. The provider sets `anthropic-version`, except for a request that passes
 * through unchanged. Source: Messages API reference.
 */
export const upstream: UpstreamFormat = {
  name: MESSAGE_FORMAT,
  author: "anthropic",
  writeRequest,
  hasWebSearch: hasWebSearch,
  readReply,
  readUsage,
  readError,
  refusesReasoning,
  streamReader: (options) => sseStreamReader(eventReader(), options),
  forwardedHeaders: ["anthropic-beta"],
  reportedHeaders: [],
  takesAnyFile: false,
  hasStop: true,
  takesAudio: false,
  supportsTier: (tier) => isSupportedTier(tier, TIER_NAMES),
  cacheHint: () => "marks",
  cachePlaces: ({ facts: { minCacheTokens } }) =>
    minCacheTokens === null ? null : { minTokens: minCacheTokens, tools: true, instructions: true, results: true },
};
