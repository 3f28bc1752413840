import { runWholeCall } from "../../services/calls/run_whole_call.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { rankCall, type Ranking } from "../../services/ranks/rank_call.ts";
import { type RankRequest, readRankRequest } from "../../services/ranks/rank_request.ts";
import { routesAt } from "../route_at.ts";
import { servedJson, wholeCallerOf, type WholeCallParts } from "../whole_call_parts.ts";
import { dryRunWhole } from "../whole_dry_run.ts";

/** `POST /v1/rerank`. */
export function defaultRerankRoutes(parts: WholeCallParts): Route[] {
  return routesAt(ENDPOINTS.rerank, rerank(parts));
}

function rerank({ calls, catalog, authenticate, bodyLimits }: WholeCallParts): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const isTrial = isDryRun(inbound.request.headers);
    const { body, bytes } = await readJsonObject(inbound, bodyLimits);
    inbound.record.capture?.takeRequest(bytes);
    const request = readRankRequest(body, permittedCatalog(catalog.at(inbound.receivedAt), credential.limits));
    const caller = wholeCallerOf(inbound, credential);
    const call = rankCall(request, calls);
    if (isTrial) return await dryRunWhole(call, caller, calls);
    const { result, ...served } = await runWholeCall(call, caller, calls);
    return servedJson(caller, served, { id: caller.requestId, ...writeRanking(result, request) });
  };
}

/** With `usage` as Jina, vLLM and OpenRouter have it, and `meta` as Cohere. Source: docs/api/rerank.md#response. */
function writeRanking(
  { results, tokens, units }: Ranking,
  { modelName, documents, returnsDocuments }: RankRequest,
): JsonObject {
  return {
    object: "list",
    model: modelName,
    results: results.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...returnsDocuments && { document: { text: documents[index] } },
    })),
    usage: { total_tokens: tokens, search_units: units },
    meta: { billed_units: { search_units: units } },
  };
}
