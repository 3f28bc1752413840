import { permittedCatalog } from "../../catalog/permitted_catalog.ts";
import { refuseDryRun } from "../../http/dry_run.ts";
import type { Handler, Route } from "../../http/inbound.ts";
import { readJsonObject } from "../../http/json_body.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import { rankDocuments, type Ranking } from "../../ranks/rank_call.ts";
import { type RankRequest, readRankRequest } from "../../ranks/rank_request.ts";
import { servedJson, wholeCallerOf, type WholeCallParts } from "../whole_call_parts.ts";
import { renderDefaultError as renderError } from "./error.ts";

/** `POST /v1/rerank`. */
export function defaultRerankRoutes(parts: WholeCallParts): Route[] {
  return [{ method: "POST", path: "/v1/rerank", handler: rerank(parts), renderError }];
}

function rerank({ calls, catalog, authenticate, bodyLimits }: WholeCallParts): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    refuseDryRun(inbound.request.headers);
    const { body, bytes } = await readJsonObject(inbound, bodyLimits);
    inbound.record.capture?.takeRequest(bytes);
    const request = readRankRequest(body, permittedCatalog(catalog, credential.limits));
    const caller = wholeCallerOf(inbound, credential);
    const { result, ...served } = await rankDocuments(request, caller, calls);
    const written = writeRanking(result, request);
    return servedJson(caller, { ...served, dropped: request.droppedFields }, { id: caller.requestId, ...written });
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
