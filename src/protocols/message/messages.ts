import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { routesAt } from "../route_at.ts";
import type { TextRouteParts } from "../text_route_parts.ts";
import { cacheInExtraBody, type CacheReference } from "../../services/caches/reference.ts";
import { readCountRequest, writeCount } from "../../conversation/codecs/messages/caller/count.ts";
import { messages } from "../../conversation/codecs/messages/mod.ts";
import { checkMessageVersion } from "../../platform/http/request/credentials.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { readBodyPin, readHeaderPin } from "../../vendors/routing/pin.ts";
import { countTokens } from "../../services/texts/request/count_tokens.ts";
import { textRequestOf, withNamedFiles } from "../../services/texts/request/text_request.ts";

/** `POST /msgcompat/v1/messages` and its token counter. */
export function messageRoutes(parts: TextRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createMessage, messagesHandler(parts)),
    ...routesAt(ENDPOINTS.countMessageTokens, countHandler(parts)),
  ];
}

function messagesHandler({ turns, caches, authenticate, bodyLimits, files }: TextRouteParts): Handler {
  const format = messages.caller;
  return async (inbound) => {
    const credential = await authenticate(inbound);
    checkMessageVersion(inbound.request.headers);
    const received = await readJsonObject(inbound, bodyLimits);
    return await withNamedFiles({ inbound, credential, format, json: received }, files, (json) => {
      const { outline: body } = json;
      const model = typeof body.model === "string" ? body.model : "";
      const facts = { format, body, model, stream: body.stream === true, bodyPin: readBodyPin(body) };
      const handle = (cache: CacheReference | null) =>
        turns.handle(textRequestOf(inbound, credential, json, { ...facts, cache }));
      const named = cacheInExtraBody(body, format, model);
      return named === null ? handle(null) : caches.resolve({ ...named, keyId: credential.keyId }).then(handle);
    });
  };
}

function countHandler({ turns, authenticate, bodyLimits, files }: TextRouteParts): Handler {
  const format = messages.caller;
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const { keyId, accountId, limits } = credential;
    checkMessageVersion(inbound.request.headers);
    const received = await readJsonObject(inbound, bodyLimits);
    return await withNamedFiles({ inbound, credential, format, json: received }, files, async ({ body }) => {
      const conversation = readCountRequest(body);
      const { tokens, countedBy } = await countTokens({
        keyId,
        accountId,
        limits,
        receivedAt: inbound.receivedAt,
        model: conversation.model,
        format,
        body,
        conversation,
        headerPin: readHeaderPin(inbound.request.headers),
        bodyPin: readBodyPin(body),
        callerSignal: () => inbound.request.signal,
        memory: inbound.memory,
        record: inbound.record,
      }, turns.parts);
      return Response.json(writeCount(tokens), { headers: { "x-service-counted-by": countedBy ?? "gateway" } });
    });
  };
}
