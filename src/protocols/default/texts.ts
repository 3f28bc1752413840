import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { routesAt } from "../route_at.ts";
import type { TextRouteParts } from "../text_route_parts.ts";
import { cacheInExtraBody, type CacheReference } from "../../services/caches/reference.ts";
import type { CallerFormat } from "../../conversation/contract/caller_format.ts";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import { responses } from "../../conversation/codecs/responses/mod.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { readBodyPin } from "../../vendors/routing/pin.ts";
import { textRequestOf, withNamedFiles } from "../../services/texts/request/text_request.ts";

/** `POST /v1/chat/completions` and `POST /v1/responses`. */
export function defaultTextRoutes(parts: TextRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createChatCompletion, textHandler(chat.caller, parts)),
    ...routesAt(ENDPOINTS.createResponse, textHandler(responses.caller, parts)),
    ...routesAt(ENDPOINTS.refuseUpgrade, refuseUpgrade),
  ];
}

function textHandler(
  format: CallerFormat,
  { turns, caches, authenticate, bodyLimits, files }: TextRouteParts,
): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
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

/** Clients that first try a WebSocket on this path continue with plain requests only after a 426. */
function refuseUpgrade(): never {
  throw new GatewayError("invalid_request", "Cannot upgrade: send the request with POST", { status: 426 });
}
