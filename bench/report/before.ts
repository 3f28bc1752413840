import type { ProfileId } from "../profiling.ts";
import type { Share } from "../profile.ts";

/**
 * Figures of Switchyard before the work on the request path, of 2026-11-22, from a rig like this one: the gateway alone
 * on one core, an upstream in C and the load on the other, medians of three rounds.
 */
export const BEFORE = {
  repliesPerSecond: 4386,
  cpuUs: 215,
  addedP50Ms: 1.97,
  addedP99Ms: 7.4,
  body100kUs: 1338,
  body1mUs: 7843,
  chunkUs: 167,
  streams: "100–150",
  idleMiB: 93,
} as const;

/**
 * The figures of the marks on 2026-11-27, with the default log, before the work on streams, tails and memory. The bare
 * proxy sustained the most streams that were tried then, so that ratio is an upper limit.
 */
export const MARKS_BEFORE = {
  repliesOfBare: 0.68,
  p99OfBare: 1.94,
  latencyP99OverBareMs: 1.7,
  oneWayP99OverBareMs: 11.12,
  chunkOfBare: 2.13,
  streamsOfBare: 0.14,
  requestGarbageBytes: 43_000,
  chunkGarbageBytes: 3_700,
  translationOfPass: 1.9,
  idleMiB: 128,
  afterLoadMiB: 318,
} as const;

/** The functions with the largest shares of a profile before that work, of 2026-11-21. */
export const PROFILES_BEFORE: Readonly<Partial<Record<ProfileId, readonly Share[]>>> = {
  json: [
    { label: "op_write", share: 0.151 },
    { label: "op_kv_atomic_write", share: 0.077 },
    { label: "(garbage collector)", share: 0.043 },
    { label: "(anonymous) src/platform/lib/basics/log.ts:16", share: 0.028 },
    { label: "parsed src/platform/http/bodies/json_body.ts:63", share: 0.028 },
    { label: "withCuts src/platform/lib/json/json.ts:98", share: 0.021 },
  ],
  burst: [
    { label: "#look src/services/texts/relay/pass_relay.ts:99", share: 0.2 },
    { label: "latin1Write ext:deno_node/internal/buffer.mjs:1", share: 0.149 },
    { label: "(garbage collector)", share: 0.084 },
    { label: "op_kv_atomic_write", share: 0.073 },
    { label: "op_write", share: 0.054 },
    { label: "write ext:deno_node/internal/buffer.mjs:1", share: 0.042 },
  ],
  paced: [
    { label: "(garbage collector)", share: 0.155 },
    { label: "read src/platform/net/http1/connection.ts:71", share: 0.099 },
    { label: "send src/platform/net/http1/client.ts:13", share: 0.082 },
    { label: "op_read", share: 0.078 },
    { label: "#look src/services/texts/relay/pass_relay.ts:99", share: 0.059 },
    { label: "op_readable_stream_resource_write_sync", share: 0.049 },
  ],
  translation: [
    { label: "op_write", share: 0.159 },
    { label: "op_kv_atomic_write", share: 0.086 },
    { label: "(garbage collector)", share: 0.042 },
    { label: "jsonBytes src/services/texts/relay/response_headers.ts:36", share: 0.034 },
    { label: "(anonymous) src/platform/lib/basics/log.ts:16", share: 0.025 },
    { label: "readRequest src/conversation/codecs/messages/read_request.ts:32", share: 0.023 },
  ],
};
