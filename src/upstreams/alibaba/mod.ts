import { byFixedHeaders } from "../authorization.ts";
import { chatEndpointAt } from "../chat_endpoint.ts";
import { openaiListingAt } from "../model_listing.ts";
import { probeByGet } from "../probe.ts";
import type { UpstreamKind } from "../upstream.ts";
import { qwenImages } from "./images.ts";
import { wanVideos } from "./videos.ts";

/** Below it Alibaba Cloud resembles OpenAI. */
const COMPATIBLE = "/compatible-mode/v1";

/**
 * Alibaba Cloud Model Studio (DashScope): Qwen's texts and pictures, Wan's videos. Its base address is the host of a
 * region, as each of its capabilities has a path of its own. Source: Model Studio API reference.
 */
export const alibaba = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: () => [chatEndpointAt(`${COMPATIBLE}/chat/completions`)],
  images: qwenImages,
  videos: wanVideos,
  probe: probeByGet(`${COMPATIBLE}/models`),
  models: openaiListingAt(`${COMPATIBLE}/models`),
} satisfies UpstreamKind;
