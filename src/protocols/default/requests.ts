import type { Authenticate } from "../../money/billing/authenticate.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { OWNER_PARAMETERS, readRequestQuery } from "../../observers/request_log/read_query.ts";
import type { RequestLog } from "../../observers/request_log/request_log.ts";
import { writeOwnRequest, writePage } from "../../observers/request_log/written_request.ts";
import { routesAt } from "../route_at.ts";

/** The dependencies of the endpoints of an account's own requests. */
export interface OwnRequestOptions {
  readonly authenticate: Authenticate;
  /** Null if requests are not logged. */
  readonly requests: RequestLog | null;
}

/** `GET /v1/requests` and `GET /v1/requests/{id}`: the requests of the caller's account. */
export function ownRequestRoutes({ authenticate, requests }: OwnRequestOptions): Route[] {
  return [
    ...routesAt(ENDPOINTS.listOwnRequests, async (inbound) => {
      const { accountId, keyId } = await authenticate(inbound);
      const asked = readRequestQuery(inbound.query, OWNER_PARAMETERS);
      if (requests === null) throw isOff();
      const reader = { accountId, keyId, signal: inbound.request.signal };
      return answer(writePage(await requests.list({ ...asked, account: accountId }, reader), writeOwnRequest));
    }),
    ...routesAt(ENDPOINTS.readOwnRequest, async (inbound) => {
      const { accountId, keyId } = await authenticate(inbound);
      if (requests === null) throw isOff();
      const id = pathParam(inbound.params, "id");
      const found = await requests.get(id, { accountId, keyId, signal: inbound.request.signal });
      // A request of another account is not distinguished from a missing one.
      if (found?.accountId !== accountId) {
        throw new GatewayError("not_found", `No request of this account has the id "${id.slice(0, 100)}"`);
      }
      return answer(writeOwnRequest(found));
    }),
  ];
}

function answer(body: JsonObject): Response {
  return Response.json(body, { headers: { "cache-control": "no-store" } });
}

function isOff(): GatewayError {
  return new GatewayError("not_found", "Requests are not logged by this gateway");
}
