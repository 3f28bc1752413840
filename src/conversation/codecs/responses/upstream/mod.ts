import { breakpointPlaces } from "../../../parts/request/cache_breakpoints.ts";
import { FEATURE_HEADERS, REPORTED_HEADERS } from "../../../parts/request/default_headers.ts";
import { isSupportedTier } from "../../../parts/request/service_tier.ts";
import { sseStreamReader } from "../../../parts/reply/stream_reader.ts";
import type { UpstreamFormat } from "../../../contract/upstream_format.ts";
import { readUsage } from "../shared/usage.ts";
import { readDroppedFields } from "./dropped_input.ts";
import { readError, refusesReasoning } from "./error.ts";
import { eventReader } from "./event_reader.ts";
import { readReply } from "./read_reply.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { hasWebSearch, writeRequest } from "./write_request.ts";

/** The vendor side of the Responses API, for OpenAI and compatible vendors. Source: Responses API reference. */
export const upstream: UpstreamFormat = {
  name: "responses",
  author: "openai",
  writeRequest,
  hasWebSearch: hasWebSearch,
  readReply,
  readUsage,
  readDroppedFields,
  readError,
  refusesReasoning,
  streamReader: (options) => sseStreamReader(eventReader(), options),
  forwardedHeaders: FEATURE_HEADERS,
  reportedHeaders: REPORTED_HEADERS,
  takesAnyFile: false,
  hasStop: false,
  takesAudio: false,
  supportsTier: (tier) => isSupportedTier(tier, TIER_NAMES),
  cacheHint: () => "key",
  // The top-level field of instructions is a string.
  cachePlaces: (target) => breakpointPlaces(target, target.facts.hasInstructionsInInput === true),
};
