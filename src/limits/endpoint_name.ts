import { ownValue } from "../lib/own_value.ts";

/**
 * The endpoints that a key or an account can be limited to. Every endpoint that authenticates a caller has one of these
 * names or is open ({@linkcode isOpenEndpoint}).
 */
export const ENDPOINT_NAMES = [
  /** `POST /v1/chat/completions`. */
  "chat_completions",
  /** `POST /v1/responses`. */
  "responses",
  /** `POST /msgcompat/v1/messages`. */
  "messages",
  /** `generateContent` and `streamGenerateContent`. */
  "generate_content",
  /** The token counts of the message and the content protocol. */
  "count_tokens",
  /** The cached contents of the content protocol. */
  "cached_contents",
  /** `/v1/images/generations` and `/v1/images/edits`. */
  "images",
  /** `/v1/videos` and everything below it, deliveries and events included. */
  "videos",
  /** `POST /v1/embeddings`, `embedContent` and `batchEmbedContents`. */
  "embeddings",
  /** `POST /v1/moderations`. */
  "moderations",
  /** `POST /v1/rerank`. */
  "rerank",
  /** `/v1/audio/speech`, `/v1/audio/transcriptions` and `/v1/audio/translations`. */
  "audio",
] as const;

/** The name of an endpoint in the limits of a key. */
export type EndpointName = typeof ENDPOINT_NAMES[number];

/** The paths of the endpoints, and of everything below them. */
const PREFIXES: readonly (readonly [prefix: string, name: EndpointName])[] = [
  ["/v1/chat/completions", "chat_completions"],
  ["/v1/responses", "responses"],
  ["/msgcompat/v1/messages/count_tokens", "count_tokens"],
  ["/msgcompat/v1/messages", "messages"],
  ["/gencompat/v1beta/cachedContents", "cached_contents"],
  ["/gencompat/v1/cachedContents", "cached_contents"],
  ["/v1/images", "images"],
  ["/v1/videos", "videos"],
  ["/v1/embeddings", "embeddings"],
  ["/v1/moderations", "moderations"],
  ["/v1/rerank", "rerank"],
  ["/v1/audio", "audio"],
];

/** The endpoints of a model in the content protocol, by the verb at the end of their path. */
const VERBS: Readonly<Record<string, EndpointName>> = {
  generateContent: "generate_content",
  streamGenerateContent: "generate_content",
  countTokens: "count_tokens",
  embedContent: "embeddings",
  batchEmbedContents: "embeddings",
};

/** What a key can always read: the models that it may use, and its own limits and usage. */
const OPEN = [
  "/v1/models",
  "/v1/videos/models",
  "/msgcompat/v1/models",
  "/gencompat/v1beta/models",
  "/gencompat/v1/models",
  "/v1/key",
  "/v1/credits",
  "/v1/usage",
  "/v1/requests",
];

/**
 * The name of the endpoint at a path; null for a path without one.
 *
 * @param path As it was sent, after rewriting.
 */
export function endpointAt(path: string): EndpointName | null {
  return endpointOfVerb(path) ?? PREFIXES.find(([prefix]) => isAtOrBelow(path, prefix))?.[1] ?? null;
}

/** Whether every valid key may use the endpoint at a path, whatever its `endpoints`. */
export function isOpenEndpoint(path: string): boolean {
  return endpointOfVerb(path) === null && OPEN.some((prefix) => isAtOrBelow(path, prefix));
}

function endpointOfVerb(path: string): EndpointName | null {
  if (!path.startsWith("/gencompat/")) return null;
  const verb = /:([A-Za-z]+)\/?$/.exec(path)?.[1];
  return verb === undefined ? null : ownValue(VERBS, verb) ?? null;
}

function isAtOrBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}
