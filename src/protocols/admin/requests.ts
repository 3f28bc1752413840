import { REQUEST_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { pathParam } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { OPERATOR_PARAMETERS, readRequestQuery } from "../../observers/request_log/read_query.ts";
import type { RequestLog } from "../../observers/request_log/request_log.ts";
import { writePage, writeRequest } from "../../observers/request_log/written_request.ts";
import { answerJson } from "./shared/answer.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";

/**
 * `GET /admin/v1/requests`, `GET /admin/v1/requests/{id}`, and `/bodies` below it, which only owners read and whose
 * reading is in the audit log.
 *
 * @param requests Null if requests are not logged.
 */
export function adminRequestRoutes(requests: RequestLog | null): AdminRoute[] {
  return [
    adminRoute(REQUEST_ENDPOINTS.listRequests, async ({ query }) => {
      const asked = readRequestQuery(query, OPERATOR_PARAMETERS);
      return answerJson(writePage(await loggedIn(requests).list(asked), writeRequest));
    }, { parameters: null }),
    adminRoute(REQUEST_ENDPOINTS.readRequest, async ({ params }) => {
      const id = pathParam(params, "id");
      const log = loggedIn(requests);
      const [found, bodies] = await Promise.all([log.get(id), log.bodies(id)]);
      if (found === null) throw new GatewayError("not_found", `No request has the id "${id.slice(0, 100)}"`);
      return answerJson({ ...writeRequest(found), has_bodies: bodies !== null });
    }),
    adminRoute(REQUEST_ENDPOINTS.readRequestBodies, async ({ params }) => {
      const id = pathParam(params, "id");
      const bodies = await loggedIn(requests).bodies(id);
      if (bodies === null) throw new GatewayError("not_found", "No bodies are kept for this request");
      const { request, response, isCut } = bodies;
      return answerJson({ request_id: id, request, response, is_cut: isCut });
    }),
  ];
}

function loggedIn(requests: RequestLog | null): RequestLog {
  if (requests !== null) return requests;
  throw new GatewayError("not_found", 'There is no log of requests: it is off (setting "request_log") or still empty');
}
