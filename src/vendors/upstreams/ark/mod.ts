import { byFixedHeaders } from "../call/authorization.ts";
import { probeByGet } from "../shared/probe.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { arkImages } from "./images.ts";
import { chatEndpoint } from "./text.ts";
import { arkVideos } from "./videos.ts";

/** ByteDance's Ark, sold as BytePlus ModelArk and as Volcengine Ark. Source: Ark API reference, "Authentication". */
export const ark = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: () => [chatEndpoint],
  capabilities: ({ outbound }) => ({ images: arkImages(outbound), videos: arkVideos(outbound) }),
  // The list of video tasks, because a list of models is not documented.
  probe: probeByGet("/contents/generations/tasks?page_num=1&page_size=1"),
} satisfies UpstreamKind;
