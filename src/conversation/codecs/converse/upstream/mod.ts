import { cachePlaces } from "./cache_points.ts";
import { isSupportedTier } from "../../../parts/request/service_tier.ts";
import { sseStreamReader } from "../../../parts/reply/stream_reader.ts";
import type { UpstreamFormat } from "../../../contract/upstream_format.ts";
import { readError } from "./error.ts";
import { eventReader } from "./event_reader.ts";
import { readReply } from "./read_reply.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { readUsage } from "./usage.ts";
import { writeRequest } from "./write_request.ts";

/**
 * Converse and ConverseStream. The events of a stream are read as server-sent events, whose name is the type of the
 * event. Source: Amazon Bedrock API reference, "Converse" and "ConverseStream".
 */
export const upstream: UpstreamFormat = {
  name: "converse",
  author: "amazon",
  writeRequest,
  hasWebSearch: () => false,
  readReply,
  readUsage,
  readError,
  streamReader: (options) => sseStreamReader(eventReader(), options),
  forwardedHeaders: [],
  reportedHeaders: [],
  takesAnyFile: false,
  hasStop: true,
  takesAudio: true,
  supportsTier: (tier) => isSupportedTier(tier, TIER_NAMES),
  cacheHint: () => "marks",
  cachePlaces,
};
