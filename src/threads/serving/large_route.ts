import type { Authenticate } from "../../money/billing/authenticate.ts";
import type { CallerFormat } from "../../conversation/contract/caller_format.ts";
import type { TextFormatName } from "../../platform/endpoints/endpoint.ts";
import { type BodyLimits, readBody } from "../../platform/http/bodies/body.ts";
import { changedInbound, type Inbound, type Route } from "../../platform/http/request/inbound.ts";
import { JSON_MEMORY_FACTOR, receivedBodyOf } from "../../platform/http/bodies/json_body.ts";
import { hasMoreValuesThan } from "../../platform/lib/json/json_values.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { LargeRequests } from "./large_requests.ts";
import { Late } from "../../platform/lib/process/late.ts";

/** Determines which requests are large. */
export interface LargeRouteOptions {
  readonly large: Pick<LargeRequests, "handle">;
  readonly authenticate: Authenticate;
  readonly limits: BodyLimits;
  /** A body with more bytes is large. */
  readonly largeBytes: number;
}

/** Whether a request is surely not large, by the length that it declares. */
function isSurelySmall(contentLength: string | null, largeBytes: number): boolean {
  return contentLength !== null && Number(contentLength) <= Math.min(largeBytes, MIN_COUNTED_BYTES);
}

/** A body with more values is large too: the time to parse and to check them depends on their number. */
const MAX_VALUES = 20_000;
/** For how many values a new name counts. Tools have hundreds, which take less time to parse than to check. */
const NEW_NAME_VALUES = 10;
/** The values of a smaller body are not counted. */
const MIN_COUNTED_BYTES = 64_000;

/** The wire formats of text requests, which are loaded by the first large request. */
const FORMATS: Readonly<Record<TextFormatName, Late<CallerFormat>>> = {
  chat: new Late(async () => (await import("../../conversation/codecs/chat/mod.ts")).chat.caller),
  responses: new Late(async () => (await import("../../conversation/codecs/responses/mod.ts")).responses.caller),
  messages: new Late(async () => (await import("../../conversation/codecs/messages/mod.ts")).messages.caller),
  content: new Late(async () => (await import("../../conversation/codecs/content/mod.ts")).content.caller),
};

/**
 * Returns a route that handles requests with a large body in threads. Routes without such bodies are returned
 * unchanged.
 */
export function withLargeBodies(route: Route, options: LargeRouteOptions): Route {
  if (route.format === undefined) return route;
  const format = FORMATS[route.format];
  return { ...route, handler: (inbound) => answer(route, inbound, format, options) };
}

function answer(
  route: Route,
  inbound: Inbound,
  format: Late<CallerFormat>,
  options: LargeRouteOptions,
): MaybePromise<Response> {
  const { request, headers = request.headers } = inbound;
  const isSmall = isSurelySmall(headers.get("content-length"), options.largeBytes);
  return isSmall ? route.handler(inbound) : answerBySize(route, inbound, format, options);
}

async function answerBySize(
  route: Route,
  inbound: Inbound,
  format: Late<CallerFormat>,
  { large, authenticate, limits, largeBytes }: LargeRouteOptions,
): Promise<Response> {
  const credential = await authenticate(inbound);
  const body = await readBody(inbound, limits, JSON_MEMORY_FACTOR);
  inbound.record.capture?.takeRequest(body);
  if (body.length > largeBytes) return await large.handle(inbound, credential, body, await format.load());
  const received = receivedBodyOf(body);
  const { valueCount, memberCount } = received.scan;
  const hasMany = valueCount > MAX_VALUES ||
    (valueCount + memberCount * NEW_NAME_VALUES > MAX_VALUES &&
      await hasMoreValuesThan(body, MAX_VALUES, { newName: NEW_NAME_VALUES }));
  if (hasMany) return await large.handle(inbound, credential, body, await format.load());
  return await route.handler(changedInbound(inbound, { received }));
}
