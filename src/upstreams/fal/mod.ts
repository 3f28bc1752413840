import type { UpstreamKind } from "../upstream.ts";
import { falVideos } from "./videos.ts";

/** fal's queue, which runs models of many makers. Source: fal documentation, "Authentication". */
export const fal: UpstreamKind = {
  headers: (apiKey) => ({ authorization: `Key ${apiKey}` }),
  text: () => [],
  images: () => null,
  videos: falVideos,
};
