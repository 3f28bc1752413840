/** The endpoints that a key or an account can be limited to, as `endpoints` of its limits names them. */
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
  /** Files of callers in every protocol, and `/v1/uploads`. */
  "files",
  /** Batches of every protocol. Their lines need the name of their endpoint, too. */
  "batches",
] as const;

/** The name of an endpoint in the limits of a key. */
export type EndpointName = typeof ENDPOINT_NAMES[number];
