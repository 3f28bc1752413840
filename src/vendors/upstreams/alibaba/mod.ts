import { byFixedHeaders } from "../call/authorization.ts";
import { chatEndpointAt } from "../shared/chat_endpoint.ts";
import { openaiListingAt } from "../contract/model_listing.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { qwenImages } from "./images.ts";
import { wanVideos } from "./videos.ts";

/** The path prefix of Alibaba Cloud's OpenAI-compatible API. */
const COMPATIBLE = "/compatible-mode/v1";

/**
 * Alibaba Cloud Model Studio (DashScope): Qwen text and images, Wan videos. The base URL is the host of a region,
 * because each capability has its own path. Source: Model Studio API reference.
 */
export const alibaba = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: () => [chatEndpointAt(`${COMPATIBLE}/chat/completions`)],
  capabilities: ({ outbound }) => ({ images: qwenImages(outbound), videos: wanVideos(outbound) }),
  probe: probeByGet(`${COMPATIBLE}/models`),
  models: openaiListingAt(`${COMPATIBLE}/models`),
} satisfies UpstreamKind;
