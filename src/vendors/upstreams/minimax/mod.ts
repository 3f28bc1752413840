import { byFixedHeaders } from "../call/authorization.ts";
import type { UpstreamKind } from "../contract/upstream.ts";
import { probeMinimax } from "./probe.ts";
import { chatEndpoint } from "./text.ts";
import { minimaxVideos } from "./videos.ts";

/** MiniMax. The base URL has no version, because each capability has its own. Source: MiniMax API reference. */
export const minimax = {
  authorize: byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` })),
  text: () => [chatEndpoint],
  capabilities: ({ outbound }) => ({ videos: minimaxVideos(outbound) }),
  probe: probeMinimax,
} satisfies UpstreamKind;
