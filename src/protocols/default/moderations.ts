import { runWholeCall } from "../../services/calls/run_whole_call.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { moderationCall } from "../../services/moderations/moderation_call.ts";
import { readModerationRequest } from "../../services/moderations/moderation_request.ts";
import { routesAt } from "../route_at.ts";
import { servedJson, wholeCallerOf, type WholeCallParts } from "../whole_call_parts.ts";
import { dryRunWhole } from "../whole_dry_run.ts";

/** `POST /v1/moderations`. */
export function defaultModerationRoutes(parts: WholeCallParts): Route[] {
  return routesAt(ENDPOINTS.createModeration, moderations(parts));
}

function moderations({ calls, catalog, authenticate, bodyLimits }: WholeCallParts): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const isTrial = isDryRun(inbound.request.headers);
    const { body, bytes } = await readJsonObject(inbound, bodyLimits);
    inbound.record.capture?.takeRequest(bytes);
    const request = readModerationRequest(body, permittedCatalog(catalog.at(inbound.receivedAt), credential.limits));
    const caller = wholeCallerOf(inbound, credential);
    const call = moderationCall(request, calls);
    if (isTrial) return await dryRunWhole(call, caller, calls);
    const { result: { id, results }, ...served } = await runWholeCall(call, caller, calls);
    const { modelName: model } = request;
    // Source: OpenAI API reference, "The moderation object".
    return servedJson(caller, served, { id: id ?? `modr-${caller.requestId}`, model, results });
  };
}
