import { byFixedHeaders } from "../authorization.ts";
import type { UpstreamKind } from "../upstream.ts";
import { probeMinimax } from "./probe.ts";
import { chatEndpoint } from "./text.ts";
import { minimaxVideos } from "./videos.ts";

/** MiniMax; its base address has no version, as each of its capabilities has its own. Source: MiniMax API reference. */
export const minimax = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: () => [chatEndpoint],
  images: () => null,
  videos: minimaxVideos,
  probe: probeMinimax,
} satisfies UpstreamKind;
