import { runWholeCall } from "../../services/calls/run_whole_call.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import { readEmbeddingRequest } from "../../services/embeddings/default_request.ts";
import { embeddingCall, type MadeEmbeddings } from "../../services/embeddings/embedding_call.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { routesAt } from "../route_at.ts";
import { framedVectors } from "../vector_frame.ts";
import { servedResponse, wholeCallerOf, type WholeCallParts } from "../whole_call_parts.ts";
import { dryRunWhole } from "../whole_dry_run.ts";

/** `POST /v1/embeddings`. */
export function defaultEmbeddingRoutes(parts: WholeCallParts): Route[] {
  return routesAt(ENDPOINTS.createEmbeddings, embeddings(parts));
}

function embeddings({ calls, catalog, authenticate, bodyLimits }: WholeCallParts): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const isTrial = isDryRun(inbound.request.headers);
    const { body, bytes } = await readJsonObject(inbound, bodyLimits);
    inbound.record.capture?.takeRequest(bytes);
    const request = readEmbeddingRequest(body, permittedCatalog(catalog.at(inbound.receivedAt), credential.limits));
    const caller = wholeCallerOf(inbound, credential);
    const call = embeddingCall(request, calls);
    if (isTrial) return await dryRunWhole(call, caller, calls);
    const { result, ...served } = await runWholeCall(call, caller, calls);
    const written = await writeEmbeddings(result, request.modelName);
    return servedResponse(caller, { ...served, body: written, contentType: "application/json" });
  };
}

/** Source: OpenAI API reference, "Create embeddings"; docs/api/embeddings.md#response. */
function writeEmbeddings({ vectors, tokens }: MadeEmbeddings, modelName: string): Promise<Uint8Array<ArrayBuffer>> {
  const rest = { model: modelName, usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return framedVectors(vectors, {
    opening: '{"object":"list","data":[',
    before: (nth) => `{"object":"embedding","index":${nth},"embedding":`,
    after: "}",
    closing: `],${JSON.stringify(rest).slice(1)}`,
  });
}
