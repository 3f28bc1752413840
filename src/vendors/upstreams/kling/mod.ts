import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { throwReportedFailure } from "./refusal.ts";
import { byKeyOrToken } from "./token.ts";
import { klingVideos } from "./videos.ts";

/** Kling. Source: Kling API reference, "General Information". */
export const kling = {
  authorize: byKeyOrToken(),
  text: () => [],
  capabilities: ({ outbound }) => ({ videos: klingVideos(outbound) }),
  probe: probeByGet(
    "/v1/videos/text2video?pageNum=1&pageSize=1",
    (response, outbound) => throwReportedFailure(outbound, response),
  ),
} satisfies UpstreamKind;
