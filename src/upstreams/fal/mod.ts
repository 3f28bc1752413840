import { byFixedHeaders } from "../authorization.ts";
import type { UpstreamKind } from "../upstream.ts";
import { falImages } from "./images.ts";
import { falVideos } from "./videos.ts";

/** fal's queue, which runs models of many makers. Source: fal documentation, "Authentication". */
export const fal = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Key ${apiKey}` })),
  text: () => [],
  images: falImages,
  videos: falVideos,
} satisfies UpstreamKind;
