import { DEFAULT_FEATURES, DEFAULT_TOLD } from "../../../default_headers.ts";
import { hasWordFor } from "../../../service_tier.ts";
import { sseStreamReader } from "../../../stream_reader.ts";
import type { UpstreamFormat } from "../../../upstream_format.ts";
import { readUsage } from "../shared/usage.ts";
import { readError } from "./error.ts";
import { eventReader } from "./event_reader.ts";
import { readReply } from "./read_reply.ts";
import { TIER_WORDS } from "./tier_words.ts";
import { searchesByName, writeRequest } from "./write_request.ts";

/** The vendor side of the Responses API, for OpenAI and compatible vendors. Source: Responses API reference. */
export const upstream: UpstreamFormat = {
  name: "responses",
  author: "openai",
  writeRequest,
  searches: searchesByName,
  readReply,
  readUsage,
  readError,
  streamReader: (options) => sseStreamReader(eventReader(), options),
  forwardedHeaders: DEFAULT_FEATURES,
  toldHeaders: DEFAULT_TOLD,
  takesAnyFile: false,
  hasStop: false,
  takesAudio: false,
  carriesTier: (tier) => hasWordFor(tier, TIER_WORDS),
  cacheHint: () => "key",
};
