import { breakpointPlaces } from "../../../parts/request/cache_breakpoints.ts";
import { FEATURE_HEADERS, REPORTED_HEADERS } from "../../../parts/request/default_headers.ts";
import { isSupportedTier } from "../../../parts/request/service_tier.ts";
import { sseStreamReader } from "../../../parts/reply/stream_reader.ts";
import type { UpstreamFormat } from "../../../contract/upstream_format.ts";
import { CHAT_REFUSALS } from "../shared/refused_in_chat.ts";
import { hasWebSearch } from "../shared/search_options.ts";
import { readUsage } from "../shared/usage.ts";
import { readError } from "./error.ts";
import { eventReader } from "./event_reader.ts";
import { readReply } from "./read_reply.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { writeRequest } from "./write_request.ts";

/** The vendor side of chat completions, for OpenAI and compatible vendors. Source: Chat Completions reference. */
export const upstream: UpstreamFormat = {
  name: "chat",
  author: "openai",
  writeRequest,
  hasWebSearch: hasWebSearch,
  readReply,
  readUsage,
  readError,
  streamReader: (options) => sseStreamReader(eventReader(), options),
  forwardedHeaders: FEATURE_HEADERS,
  reportedHeaders: REPORTED_HEADERS,
  takesAnyFile: false,
  refusals: CHAT_REFUSALS,
  hasStop: true,
  takesAudio: true,
  supportsTier: (tier) => isSupportedTier(tier, TIER_NAMES),
  cacheHint: (quirks) => quirks.has("no_prompt_cache_key") ? null : "key",
  cachePlaces: (target) => breakpointPlaces(target, true),
};
