import * as z from "zod";
import { RANGED_FACTS, type RangedFact } from "../../../src/observers/request_log/request_log.ts";
import { PAID_ERRORS } from "../errors.ts";
import { PAID } from "../headers.ts";
import { inPath, inQuery, type Operation, type Parameter } from "../operation.ts";
import { LAST_EVENT_ID, PAID_HEADERS } from "../parameters.ts";
import { orDryRun } from "../replies/dry_run.ts";
import { CachedContent, CachedContentList } from "../replies/media.ts";
import { Credits, OwnKey, OwnRequest, pageOf, Usage } from "../replies/own.ts";
import { CachedContentChange, CachedContentCreate } from "../requests.ts";

const mine = { tag: "Own account", face: "default" } as const;

const text = (name: string, description: string) => inQuery(name, description, z.string());

function range(end: "min" | "max", fact: RangedFact): Parameter {
  const side = end === "min" ? "lowest" : "highest";
  if (fact === "cost") return text(`${end}_cost`, `The ${side} cost in US dollars.`);
  return inQuery(`${end}_${fact}`, `The ${side} \`${fact}\`.`, z.int().min(0));
}

/** The parameters of a list of requests, for the owner of an account. */
export const REQUEST_PARAMETERS: readonly Parameter[] = [
  text("key", "The id of a key."),
  text("model", "The model as asked for or as served."),
  text("provider", "A provider that was tried."),
  text("status", "A status, a class such as `5xx`, or `error`."),
  text("code", "The code of the returned error."),
  inQuery("protocol", "The protocol of the request.", z.enum(["default", "message", "content", "admin"])),
  text("endpoint", "The endpoint."),
  text("method", "The HTTP method."),
  text("kind", "The kind of the call, such as `text`."),
  inQuery("end", "How the response ended.", z.enum(["completed", "cut", "left"])),
  inQuery("refusal_limit", "The limit that refused it.", z.enum(["rpm", "tpm", "concurrency", "budget"])),
  inQuery("refusal_holder", "Whose limit refused it.", z.enum(["key", "account"])),
  text("attempt_code", "The code of a failed attempt."),
  text("attempt_status", "The vendor's status of an attempt, as in `status`."),
  text("dropped", "A field that the vendor did not get."),
  text("client_address", "The address of the client."),
  text("session", "The session to which the client says that it belongs."),
  inQuery("is_estimated", "Whether the gateway estimated the tokens.", z.enum(["true", "false"])),
  inQuery("is_from_console", "Whether it was sent in the playground of the console.", z.enum(["true", "false"])),
  ...RANGED_FACTS.flatMap((fact) => [range("min", fact), range("max", fact)]),
  text("from", "The earliest end: Unix seconds or an instant of ISO 8601."),
  text("to", "The time before which it ended."),
  text("q", "Text in messages and ids."),
  inQuery("order", "Newest first by default.", z.enum(["desc", "asc"])),
  inQuery("limit", "The most requests of a page.", z.int().min(1).max(100).default(20)),
  text("after", "The `next` of the page before."),
];

/** The parameters of usage. */
export const USAGE_PARAMETERS: readonly Parameter[] = [
  text("group_by", "Dimensions, separated by commas."),
  text("from", "The first UTC day: `2026-11-21`, or the Unix seconds of its start."),
  text("to", "The day after the last one."),
  text("model", "Only usage of this model."),
  text("provider", "Only usage of this provider."),
  text("kind", "Only usage of this kind."),
  inQuery("format", "`csv` for a table.", z.enum(["json", "csv"])),
  inQuery("limit", "The most groups of a page.", z.int().min(1).max(1_000).default(100)),
  inQuery("top", "Only so many groups, those with the highest cost over all days.", z.int().min(1).max(1_000)),
  text("after", "The `next` of the page before."),
];

const ID = inPath("id", "The id of a request.", z.string());

/** The reply of usage. */
export const USAGE_REPLY = {
  200: { description: "The sums", json: Usage, other: [{ mediaType: "text/csv", description: "With `format=csv`" }] },
} as const;

/** The endpoints about a caller's own account and requests. */
export const OWN_OPERATIONS: readonly Operation[] = [
  {
    ...mine,
    id: "readOwnKey",
    summary: "Read the key's limits and what they have left",
    replies: { 200: { description: "The key", json: OwnKey } },
    errors: [429],
  },
  {
    ...mine,
    id: "readOwnCredits",
    summary: "Read the account's credits",
    replies: { 200: { description: "The credits", json: Credits } },
    errors: [429],
  },
  {
    ...mine,
    id: "readOwnUsage",
    summary: "Read what the key or its account has used",
    parameters: [...USAGE_PARAMETERS, inQuery("scope", "Whose usage.", z.enum(["key", "account"]).default("key"))],
    replies: USAGE_REPLY,
    errors: [400, 429],
  },
  {
    ...mine,
    id: "listOwnRequests",
    summary: "List the account's requests",
    parameters: REQUEST_PARAMETERS,
    replies: { 200: { description: "A page", json: pageOf(OwnRequest) } },
    errors: [400, 404, 429],
  },
  {
    ...mine,
    id: "readOwnRequest",
    summary: "Read one of the account's requests",
    parameters: [ID],
    replies: { 200: { description: "The request", json: OwnRequest } },
    errors: [404, 429],
  },
  {
    ...mine,
    id: "resumeStream",
    summary: "Continue a stream that was kept",
    parameters: [ID, LAST_EVENT_ID],
    replies: {
      200: {
        description: "The events after `Last-Event-ID`",
        other: [{ mediaType: "text/event-stream", description: "In the format of the request" }],
        headers: [...PAID, "X-Service-Output-Limit", "X-Service-Resume"],
      },
      204: { description: "The last event was the end" },
    },
    errors: [400, 404, 429, 503],
  },
];

const cached = { tag: "Cached contents", face: "content" } as const;
const CACHE = inPath("id", "The id of the cached content.", z.string());
const one = {
  200: {
    description: "The cached content",
    json: CachedContent,
    headers: ["X-Service-Provider", "X-Service-Model", "X-Service-Counted-By"],
  },
} as const;

/** The endpoints of cached contents. */
export const CACHE_OPERATIONS: readonly Operation[] = [
  {
    ...cached,
    id: "createCachedContent",
    summary: "Store context once, for later requests",
    parameters: PAID_HEADERS,
    body: {
      json: CachedContentCreate,
      examples: {
        "A text for ten minutes": {
          model: "models/sandbox/content-1",
          contents: [{ role: "user", parts: [{ text: "The rules of the harbour …" }] }],
          ttl: "600s",
        },
      },
    },
    replies: {
      200: {
        description: "The cached content",
        json: orDryRun(CachedContent),
        headers: [...PAID, "X-Service-Counted-By", "X-Service-Cache-Billing"],
      },
    },
    errors: PAID_ERRORS,
  },
  {
    ...cached,
    id: "listCachedContents",
    summary: "List the key's own cached contents",
    parameters: [
      inQuery("pageSize", "The most of a page; 0 for the default.", z.int().min(0)),
      inQuery("pageToken", "The `nextPageToken` of the page before.", z.string()),
    ],
    replies: { 200: { description: "A page", json: CachedContentList } },
    errors: [400, 429],
  },
  {
    ...cached,
    id: "readCachedContent",
    summary: "Read a cached content",
    parameters: [CACHE],
    replies: one,
    errors: [403, 404, 429],
  },
  {
    ...cached,
    id: "changeCachedContent",
    summary: "Change the end of a cached content",
    parameters: [CACHE, text("updateMask", "The fields to change.")],
    body: { json: CachedContentChange },
    replies: one,
    errors: [400, 403, 404],
  },
  {
    ...cached,
    id: "deleteCachedContent",
    summary: "Remove a cached content",
    parameters: [CACHE],
    replies: { 200: { description: "An empty object", json: z.object({}) } },
    errors: [403, 404],
  },
];
