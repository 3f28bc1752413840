import { CALLER_ENDPOINTS, CONTENT_ROOTS } from "../../../platform/endpoints/callers.ts";
import type { Endpoint } from "../../../platform/endpoints/endpoint.ts";
import { PROTOCOLS } from "../../../platform/endpoints/protocols.ts";
import type { RewriteRule } from "./path_rewriter.ts";

const { root: DEFAULT } = PROTOCOLS.default;
const { root: MESSAGE } = PROTOCOLS.message;
const MESSAGE_V1 = `${MESSAGE}/v1`;
const { root: CONTENT } = PROTOCOLS.content;
/** The documented version of the content protocol, and the one that current clients use. */
const [CONTENT_BETA = "", CONTENT_STABLE = ""] = CONTENT_ROOTS;
const ROWS: readonly Endpoint[] = Object.values(CALLER_ENDPOINTS);

/** The ends of all calls of a model in the content protocol: `:generateContent`. */
const CONTENT_CALLS = ROWS.filter(({ path }) => path.startsWith(CONTENT) && path.includes("*:"))
  .map(({ path }) => path.slice(path.lastIndexOf(":")));

const firstSegmentOf = (path: string): string => /^[/][^/]*/.exec(path)?.[0] ?? path;

/** The first segments of all endpoints: `/v1`, `/files`. */
const ROOTS: ReadonlySet<string> = new Set(ROWS.map(({ path }) => firstSegmentOf(path)));

/** The first segments of calls in the default protocol, below its root, unless they are a root: `/chat`, `/images`. */
const CALLS = [
  ...new Set(ROWS.flatMap(({ path, permission = "open" }) => {
    const first = firstSegmentOf(path.slice(DEFAULT.length));
    return path.startsWith(`${DEFAULT}/`) && permission !== "open" && !ROOTS.has(first) ? [first] : [];
  })),
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
  { from: "//v1", to: DEFAULT },
  { from: "//v1beta", to: "/v1beta" },
  { from: `/${MESSAGE}`, to: MESSAGE },
  { from: `/${CONTENT}`, to: CONTENT },
  { from: "/v1/", to: DEFAULT },
  { from: "/v1/v1", to: DEFAULT },
  { from: `${MESSAGE}/`, to: MESSAGE },
  { from: `${MESSAGE}/v1/`, to: MESSAGE_V1 },
  { from: `${MESSAGE}/v1/v1`, to: MESSAGE_V1 },
  { from: `${CONTENT}/`, to: CONTENT },
  ...versionsTwice(CONTENT),

  // A base URL without its version.
  { from: `${MESSAGE}/messages`, to: CALLER_ENDPOINTS.createMessage.path },
  { from: `${MESSAGE}/models`, to: CALLER_ENDPOINTS.listMessageModels.path },
  { from: `${CONTENT}/models`, to: CALLER_ENDPOINTS.listContentModels.path },
  { from: `${CONTENT}/cachedContents`, to: CALLER_ENDPOINTS.listCachedContents.path },
  { from: `${CONTENT}/v1alpha`, to: CONTENT_BETA },

  // Prefixes of vendors and other gateways.
  { from: "/openai", to: DEFAULT },
  { from: "/api/v1", to: DEFAULT },
  { from: "/v1beta/openai", to: DEFAULT },
  { from: "/anthropic", to: MESSAGE },
  { from: "/gemini", to: CONTENT },

  // The bare host, with the paths of each vendor's client.
  { from: "/v1/messages", to: CALLER_ENDPOINTS.createMessage.path },
  { from: "/messages", to: CALLER_ENDPOINTS.createMessage.path },
  { from: "/v1beta", to: CONTENT_BETA },
  { from: "/v1alpha", to: CONTENT_BETA },
  { from: "/cachedContents", to: CALLER_ENDPOINTS.listCachedContents.path },
  { from: "/v1/cachedContents", to: `${CONTENT_STABLE}/cachedContents` },
  { from: "/v1", to: CONTENT_STABLE, endings: CONTENT_CALLS },
  { from: "/v1/models", to: CALLER_ENDPOINTS.listMessageModels.path, matchesHeaders: isMessageClient },
  { from: "/v1/models", to: `${CONTENT_STABLE}/models`, matchesHeaders: isContentClient },
  { from: "/models", to: CALLER_ENDPOINTS.listContentModels.path, endings: CONTENT_CALLS },
  { from: "/models", to: CALLER_ENDPOINTS.listModels.path },
  { from: "/v2/rerank", to: CALLER_ENDPOINTS.rerank.path },
  ...CALLS.map((path) => ({ from: path, to: DEFAULT + path })),
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
