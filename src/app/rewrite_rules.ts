import type { RewriteRule } from "./path_rewriter.ts";

/** The ends of all calls of the content protocol. */
const CONTENT_CALLS = [
  ":generateContent",
  ":streamGenerateContent",
  ":countTokens",
  ":embedContent",
  ":batchEmbedContents",
];

/** Whether a client of the content protocol sent the headers. No other client sends these. */
export const isContentClient = (headers: Headers): boolean =>
  headers.has("x-goog-api-key") || headers.has("x-goog-api-client");

/** Whether a client of the message protocol sent the headers. Each names its version. */
export const isMessageClient = (headers: Headers): boolean =>
  headers.has("anthropic-version") || headers.has("msg-version");

/**
 * Paths that users rule, or that clients build from a base URL with too many or too few versions. All results are
 * paths of the three protocols; a path below a correct base URL does not change. The order matters: more specific rules
 * come first.
 */
export const REWRITE_RULES: readonly RewriteRule[] = [
  // A base URL that ends in a slash, or in the version that the client adds.
  { from: "//v1", to: "/v1" },
  { from: "//v1beta", to: "/v1beta" },
  { from: "//msgcompat", to: "/msgcompat" },
  { from: "//gencompat", to: "/gencompat" },
  { from: "/v1/", to: "/v1" },
  { from: "/v1/v1", to: "/v1" },
  { from: "/msgcompat/", to: "/msgcompat" },
  { from: "/msgcompat/v1/", to: "/msgcompat/v1" },
  { from: "/msgcompat/v1/v1", to: "/msgcompat/v1" },
  { from: "/gencompat/", to: "/gencompat" },
  ...versionsTwice("/gencompat"),

  // A base URL without its version.
  { from: "/msgcompat/messages", to: "/msgcompat/v1/messages" },
  { from: "/msgcompat/models", to: "/msgcompat/v1/models" },
  { from: "/gencompat/models", to: "/gencompat/v1beta/models" },
  { from: "/gencompat/cachedContents", to: "/gencompat/v1beta/cachedContents" },
  { from: "/gencompat/v1alpha", to: "/gencompat/v1beta" },

  // Prefixes of vendors and other gateways.
  { from: "/openai", to: "/v1" },
  { from: "/api/v1", to: "/v1" },
  { from: "/v1beta/openai", to: "/v1" },
  { from: "/anthropic", to: "/msgcompat" },
  { from: "/gemini", to: "/gencompat" },

  // The bare host, with the paths of each vendor's client.
  { from: "/v1/messages", to: "/msgcompat/v1/messages" },
  { from: "/messages", to: "/msgcompat/v1/messages" },
  { from: "/v1beta", to: "/gencompat/v1beta" },
  { from: "/v1alpha", to: "/gencompat/v1beta" },
  { from: "/cachedContents", to: "/gencompat/v1beta/cachedContents" },
  { from: "/v1/cachedContents", to: "/gencompat/v1/cachedContents" },
  { from: "/v1", to: "/gencompat/v1", endings: CONTENT_CALLS },
  { from: "/v1/models", to: "/msgcompat/v1/models", matchesHeaders: isMessageClient },
  { from: "/v1/models", to: "/gencompat/v1/models", matchesHeaders: isContentClient },
  { from: "/models", to: "/gencompat/v1beta/models", endings: CONTENT_CALLS },
  { from: "/models", to: "/v1/models" },
  { from: "/chat/completions", to: "/v1/chat/completions" },
  { from: "/responses", to: "/v1/responses" },
  { from: "/embeddings", to: "/v1/embeddings" },
  { from: "/moderations", to: "/v1/moderations" },
  { from: "/rerank", to: "/v1/rerank" },
  { from: "/v2/rerank", to: "/v1/rerank" },
  { from: "/audio", to: "/v1/audio" },
  { from: "/images", to: "/v1/images" },
  { from: "/videos", to: "/v1/videos" },
];

/** The content protocol has two versions, and its clients know a third. */
function versionsTwice(base: string): RewriteRule[] {
  const versions = ["/v1", "/v1beta", "/v1alpha"];
  return versions.flatMap((first) => [
    ...["/", ...versions].map((second) => ({
      from: `${base}${first}${second}`,
      to: base + (second === "/" ? first : second),
    })),
  ]);
}
