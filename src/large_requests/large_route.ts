import type { Authenticate } from "../billing/authenticate.ts";
import type { CallerFormat } from "../conversation/caller_format.ts";
import { type BodyLimits, readBody } from "../http/body.ts";
import { CONTENT_KEY_LOCATIONS, type KeyLocation } from "../http/credentials.ts";
import { changedInbound, type Inbound, type Route } from "../http/inbound.ts";
import { JSON_MEMORY_FACTOR, receivedBodyOf } from "../http/json_body.ts";
import type { LargeRequests } from "./large_requests.ts";

/** Determines which requests are large. */
export interface LargeRouteOptions {
  readonly large: Pick<LargeRequests, "handle">;
  readonly authenticate: Authenticate;
  readonly limits: BodyLimits;
  /** A body with more bytes is large. */
  readonly largeBytes: number;
}

/** Whether a request has the path of an endpoint whose bodies can be large: that of a text. */
export function isTextRequest(method: string, path: string): boolean {
  return method === "POST" && formatOf(path) !== null;
}

/** Whether a request is surely not large, by the length that it declares. */
export function isSurelySmall(contentLength: string | null, largeBytes: number): boolean {
  return contentLength !== null && Number(contentLength) <= Math.min(largeBytes, MIN_COUNTED_BYTES);
}

/** A body with more values is large too: the time to parse and to check them depends on their number. */
const MAX_VALUES = 20_000;
/** The values of a smaller body are not counted. */
const MIN_COUNTED_BYTES = 128_000;

/** How the wire format of a text endpoint is loaded, and where its callers send their keys. */
interface TextFormat {
  readonly load: () => Promise<CallerFormat>;
  readonly carriers?: readonly KeyLocation[];
}

const CHAT: TextFormat = {
  load: async () => (await import("../conversation/codecs/chat/mod.ts")).chat.caller,
};
const RESPONSES: TextFormat = {
  load: async () => (await import("../conversation/codecs/responses/mod.ts")).responses.caller,
};
const MESSAGES: TextFormat = {
  load: async () => (await import("../conversation/codecs/messages/mod.ts")).messages.caller,
};
const CONTENT: TextFormat = {
  load: async () => (await import("../conversation/codecs/content/mod.ts")).content.caller,
  carriers: CONTENT_KEY_LOCATIONS,
};

/**
 * Returns a route that handles requests with a large body in threads. Routes without such bodies are returned
 * unchanged.
 */
export function withLargeBodies(route: Route, options: LargeRouteOptions): Route {
  const format = route.method === "POST" ? formatOf(route.path) : null;
  if (format === null) return route;
  return { ...route, handler: (inbound) => answer(route, inbound, format, options) };
}

/** Returns null for a path that is not a text endpoint. */
function formatOf(path: string): TextFormat | null {
  if (path === "/v1/chat/completions") return CHAT;
  if (path === "/v1/responses") return RESPONSES;
  if (path.startsWith("/msgcompat/v1/messages")) return MESSAGES;
  // Embeddings have a smaller limit, and are no texts.
  if (/:(?:embedContent|batchEmbedContents)\/?$/.test(path)) return null;
  return path.startsWith("/gencompat/") ? CONTENT : null;
}

function answer(
  route: Route,
  inbound: Inbound,
  format: TextFormat,
  options: LargeRouteOptions,
): Response | Promise<Response> {
  const { request, headers = request.headers } = inbound;
  const isSmall = isSurelySmall(headers.get("content-length"), options.largeBytes);
  return isSmall ? route.handler(inbound) : answerBySize(route, inbound, format, options);
}

async function answerBySize(
  route: Route,
  inbound: Inbound,
  { load, carriers }: TextFormat,
  { large, authenticate, limits, largeBytes }: LargeRouteOptions,
): Promise<Response> {
  const authenticated = authenticate(inbound, carriers);
  const credential = authenticated instanceof Promise ? await authenticated : authenticated;
  const body = await readBody(inbound, limits, JSON_MEMORY_FACTOR);
  inbound.record.capture?.takeRequest(body);
  if (body.length > largeBytes) return await large.handle(inbound, credential, body, await load());
  const received = receivedBodyOf(body);
  if (received.scan.valueCount > MAX_VALUES) return await large.handle(inbound, credential, body, await load());
  return await route.handler(changedInbound(inbound, { received }));
}
