import type { Guess } from "./path_rewriter.ts";

/** Calls of the content protocol end in these, whatever comes before. */
const CONTENT_CALLS = [":generateContent", ":streamGenerateContent", ":countTokens"];

/** Only clients of the content protocol send these. */
export const isContentClient = (headers: Headers): boolean =>
  headers.has("x-goog-api-key") || headers.has("x-goog-api-client");

/** Every client of the message protocol names its version. */
export const isMessageClient = (headers: Headers): boolean =>
  headers.has("anthropic-version") || headers.has("msg-version");

/**
 * Addresses that users guess, or that clients make of a base address with a version too many or too few. None leads
 * anywhere but into the three protocols; below a right base address a path is left as it is. The order counts: what
 * tells more stands before what tells less.
 */
export const GUESSED_ADDRESSES: readonly Guess[] = [
  // A base address that ends in a slash, or in the version that the client adds as well.
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

  // A base address without its version.
  { from: "/msgcompat/messages", to: "/msgcompat/v1/messages" },
  { from: "/msgcompat/models", to: "/msgcompat/v1/models" },
  { from: "/gencompat/models", to: "/gencompat/v1beta/models" },
  { from: "/gencompat/cachedContents", to: "/gencompat/v1beta/cachedContents" },
  { from: "/gencompat/v1alpha", to: "/gencompat/v1beta" },

  // What vendors and other gateways have before the path that clients add.
  { from: "/openai", to: "/v1" },
  { from: "/api/v1", to: "/v1" },
  { from: "/v1beta/openai", to: "/v1" },
  { from: "/anthropic", to: "/msgcompat" },
  { from: "/gemini", to: "/gencompat" },

  // The bare host, as each vendor's client asks it.
  { from: "/v1/messages", to: "/msgcompat/v1/messages" },
  { from: "/messages", to: "/msgcompat/v1/messages" },
  { from: "/v1beta", to: "/gencompat/v1beta" },
  { from: "/v1alpha", to: "/gencompat/v1beta" },
  { from: "/cachedContents", to: "/gencompat/v1beta/cachedContents" },
  { from: "/v1/cachedContents", to: "/gencompat/v1/cachedContents" },
  { from: "/v1", to: "/gencompat/v1", endings: CONTENT_CALLS },
  { from: "/v1/models", to: "/msgcompat/v1/models", isClients: isMessageClient },
  { from: "/v1/models", to: "/gencompat/v1/models", isClients: isContentClient },
  { from: "/models", to: "/gencompat/v1beta/models", endings: CONTENT_CALLS },
  { from: "/models", to: "/v1/models" },
  { from: "/chat/completions", to: "/v1/chat/completions" },
  { from: "/responses", to: "/v1/responses" },
  { from: "/images", to: "/v1/images" },
  { from: "/videos", to: "/v1/videos" },
];

/** The content protocol has two versions, and its clients know a third. */
function versionsTwice(base: string): Guess[] {
  const versions = ["/v1", "/v1beta", "/v1alpha"];
  return versions.flatMap((first) => [
    ...["/", ...versions].map((second) => ({
      from: `${base}${first}${second}`,
      to: base + (second === "/" ? first : second),
    })),
  ]);
}
