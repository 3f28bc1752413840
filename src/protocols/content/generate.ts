import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { routesAt } from "../route_at.ts";
import type { TextRouteParts } from "../text_route_parts.ts";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { Caches } from "../../services/caches/caches.ts";
import type { CacheReference } from "../../services/caches/reference.ts";
import { readCountRequest, writeCount } from "../../conversation/codecs/content/caller/count.ts";
import { content, readCachedContent } from "../../conversation/codecs/content/mod.ts";
import { bareModelName } from "../../platform/names/bare_model_name.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { isObject } from "../../conversation/neutral/wire_value.ts";
import { type Handler, type Inbound, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { readHeaderPin } from "../../vendors/routing/pin.ts";
import { countTokens } from "../../services/texts/request/count_tokens.ts";
import { textRequestOf, withNamedFiles } from "../../services/texts/request/text_request.ts";

/** `:generateContent`, `:streamGenerateContent` and `:countTokens` of a model. */
export function contentRoutes(parts: TextRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.generateContent, generateHandler(parts, false)),
    ...routesAt(ENDPOINTS.streamGenerateContent, generateHandler(parts, true)),
    ...routesAt(ENDPOINTS.countTokens, countHandler(parts)),
  ];
}

function generateHandler(parts: TextRouteParts, stream: boolean): Handler {
  const { turns, caches, authenticate, bodyLimits, files } = parts;
  const format = content.caller;
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const received = await readJsonObject(inbound, bodyLimits);
    return await withNamedFiles({ inbound, credential, format, json: received }, files, async (json) => {
      const model = modelOf(inbound);
      const cache = await cacheIn(json.outline, { caches, credential, model });
      return await turns.handle(textRequestOf(inbound, credential, json, {
        format,
        body: { ...json.outline, model, stream },
        wholeBody: () => ({ ...json.body, model, stream }),
        model,
        stream,
        bodyPin: null, // A pin in this protocol's body is ignored: docs/api/routing.md#pin.
        cache,
        framing: !stream || new URLSearchParams(inbound.query).get("alt") === "sse" ? "sse" : "json_array",
      }));
    });
  };
}

function countHandler({ turns, caches, authenticate, bodyLimits, files }: TextRouteParts): Handler {
  const format = content.caller;
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const received = await readJsonObject(inbound, bodyLimits);
    return await withNamedFiles({ inbound, credential, format, json: received }, files, async ({ body }) => {
      const model = modelOf(inbound);
      const conversation = readCountRequest({ ...body, model });
      const cache = await cacheIn(requestToCount(body), { caches, credential, model });
      const { tokens, countedBy } = await countTokens({
        keyId: credential.keyId,
        accountId: credential.accountId,
        limits: credential.limits,
        receivedAt: inbound.receivedAt,
        model,
        format,
        body: requestToCount(body),
        conversation,
        headerPin: readHeaderPin(inbound.request.headers),
        bodyPin: null,
        callerSignal: () => inbound.request.signal,
        memory: inbound.memory,
        record: inbound.record,
      }, turns.parts);
      const headers = { "x-service-counted-by": countedBy ?? "gateway" };
      if (cache === null) return Response.json(writeCount(tokens), { headers });
      const counts = { ...writeCount(tokens + cache.tokens), cachedContentTokenCount: cache.tokens };
      return Response.json(counts, { headers });
    });
  };
}

/** A count is asked for contents alone, or for a whole request within. */
function requestToCount(body: JsonObject): JsonObject {
  const inner = body.generateContentRequest ?? body.generate_content_request;
  return isObject(inner) ? inner : body;
}

interface Naming {
  readonly caches: Caches;
  readonly credential: Credential;
  readonly model: string;
}

/** The cached content that a request names; null when it names none. Throws as `Caches.resolve`. */
async function cacheIn(body: JsonObject, { caches, credential, model }: Naming): Promise<CacheReference | null> {
  const name = readCachedContent(body);
  if (name === null) return null;
  const field = "cachedContent" in body ? "cachedContent" : "cached_content";
  return await caches.resolve({ name, field, keyId: credential.keyId, model, format: content.caller, body });
}

/** The model of the path; a client may repeat the collection's name. */
function modelOf(inbound: Inbound): string {
  return bareModelName(pathParam(inbound.params, "model"));
}
