import { isSupportedTier } from "../../../parts/request/service_tier.ts";
import { sseStreamReader } from "../../../parts/reply/stream_reader.ts";
import type { UpstreamFormat } from "../../../contract/upstream_format.ts";
import { hasWebSearch } from "../shared/search.ts";
import { readUsage } from "../shared/usage.ts";
import { readError } from "./error.ts";
import { eventReader } from "./event_reader.ts";
import { readReply } from "./read_reply.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { writeRequest } from "./write_request.ts";
import { Late } from "../../../../platform/lib/process/late.ts";

/**
 * The vendor side of content generation. Bodies contain neither the model nor whether to stream; the path does.
 * Source: Gemini API reference, version v1beta.
 */
export const upstream: UpstreamFormat = {
  name: "content",
  author: "google",
  writeRequest,
  hasWebSearch: hasWebSearch,
  readReply,
  readUsage,
  readError,
  streamReader: (options) => sseStreamReader(eventReader(), options),
  forwardedHeaders: [],
  reportedHeaders: [],
  continuation: {
    member: "continuationToken",
    code: new Late(async () => (await import("./continuation.ts")).continuation),
  },
  takesAnyFile: true,
  hasStop: true,
  takesAudio: true,
  supportsTier: (tier) => isSupportedTier(tier, TIER_NAMES),
  cacheHint: () => null,
  cachePlaces: () => null,
};
