import type { JsonSchema } from "./schema.ts";

interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

const TEXT = { type: "string" };
const WHOLE = { type: "integer" };

/** The header fields of responses, which replies name. */
export const HEADERS = {
  "X-Service-Request-Id": {
    description: "The id of the request.",
    schema: { ...TEXT, pattern: "^req_[0-9a-f]{24}$" },
  },
  "X-Goog-Upload-Status": { description: "`active`, `final` or `cancelled`.", schema: TEXT },
  "X-Goog-Upload-URL": { description: "The address of the upload, after `start`.", schema: TEXT },
  "X-Goog-Upload-Size-Received": { description: "The bytes that have arrived.", schema: WHOLE },
  "X-Service-Provider": { description: "The provider that served, by its configured name.", schema: TEXT },
  "X-Service-Model": {
    description: "The model that served. With a fallback it is not the requested one.",
    schema: TEXT,
  },
  "X-Service-Dropped": {
    description: "Fields that were not sent to the vendor, separated by commas.",
    schema: TEXT,
  },
  "X-Service-Cost": { description: "What the request was charged, in US dollars.", schema: TEXT },
  "X-Service-Cache-Saved": {
    description: "What the vendor's cache saved, in US dollars; below zero if the request wrote more than it read.",
    schema: TEXT,
  },
  "X-Service-Output-Limit": {
    description: "The output limit that the gateway set because of the balance.",
    schema: WHOLE,
  },
  "X-Service-Cache-Billing": {
    description: "`input` if requests with the cached content are billed as input, with the vendor's implicit cache.",
    schema: TEXT,
  },
  "X-Service-Counted-By": { description: "The provider that counted the tokens, or `gateway`.", schema: TEXT },
  "X-Service-Resume": { description: "Where the stream is read again.", schema: TEXT },
  "X-Service-Original-Request-Id": {
    description: "The id of the request that was carried out, in a repeat with an `Idempotency-Key`.",
    schema: TEXT,
  },
  "X-Service-Interrupted": {
    description: "Ids of earlier requests with the `Idempotency-Key` that a kill interrupted.",
    schema: TEXT,
  },
  "Idempotent-Replayed": {
    description: "The response repeats the reply to an earlier request.",
    schema: { ...TEXT, const: "true" },
  },
  "RateLimit": { description: 'What the polling limit has left: `"video-polling";r=9;t=1`.', schema: TEXT },
  "RateLimit-Policy": { description: 'The polling limit: `"video-polling";q=60;w=60`.', schema: TEXT },
  "Retry-After": { description: "Whole seconds after which a retry can succeed.", schema: WHOLE },
  "Link": { description: 'Where the error is described: `<…/docs/troubleshooting#…>; rel="help"`.', schema: TEXT },
  "Location": { description: "The address to go to.", schema: { ...TEXT, format: "uri-reference" } },
  "ETag": { description: "For `If-None-Match`.", schema: TEXT },
} as const satisfies Record<string, Header>;

/** The name of a header field of responses. */
export type HeaderName = keyof typeof HEADERS;

/** Those of replies that were charged. */
export const PAID: readonly HeaderName[] = [
  "X-Service-Provider",
  "X-Service-Model",
  "X-Service-Dropped",
  "X-Service-Cost",
  "X-Service-Cache-Saved",
  "Idempotent-Replayed",
  "X-Service-Original-Request-Id",
  "X-Service-Interrupted",
];
