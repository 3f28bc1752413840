import { runWholeCall } from "../../services/calls/run_whole_call.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import { readBatchEmbedContents, readEmbedContent } from "../../services/embeddings/content_request.ts";
import { embeddingCall } from "../../services/embeddings/embedding_call.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import { type Handler, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { bareModelName } from "../../platform/names/bare_model_name.ts";
import { routesAt } from "../route_at.ts";
import { framedVectors, type VectorFrame } from "../vector_frame.ts";
import { servedResponse, wholeCallerOf, type WholeCallParts } from "../whole_call_parts.ts";
import { dryRunWhole } from "../whole_dry_run.ts";

/** How one endpoint is read and answered. */
interface EmbedStyle {
  readonly read: typeof readEmbedContent;
  readonly frame: Omit<VectorFrame, "closing">;
  /** The text after the last vector, before the usage. */
  readonly end: string;
}

/** Source: Gemini API reference, "Embeddings". */
const EMBED_CONTENT: EmbedStyle = {
  read: readEmbedContent,
  frame: { opening: '{"embedding":', before: () => '{"values":', after: "}" },
  end: "",
};

/** Source: as before. */
const BATCH_EMBED_CONTENTS: EmbedStyle = {
  read: readBatchEmbedContents,
  frame: { opening: '{"embeddings":[', before: () => '{"values":', after: "}" },
  end: "]",
};

/** `:embedContent` and `:batchEmbedContents` of a model. */
export function contentEmbeddingRoutes(parts: WholeCallParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.embedContent, embed(EMBED_CONTENT, parts)),
    ...routesAt(ENDPOINTS.batchEmbedContents, embed(BATCH_EMBED_CONTENTS, parts)),
  ];
}

function embed({ read, frame, end }: EmbedStyle, parts: WholeCallParts): Handler {
  const { calls, catalog, authenticate, bodyLimits } = parts;
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const isTrial = isDryRun(inbound.request.headers);
    const { body, bytes } = await readJsonObject(inbound, bodyLimits);
    inbound.record.capture?.takeRequest(bytes);
    const model = bareModelName(pathParam(inbound.params, "model"));
    const request = read(body, model, permittedCatalog(catalog.at(inbound.receivedAt), credential.limits));
    const caller = wholeCallerOf(inbound, credential);
    const call = embeddingCall(request, calls);
    if (isTrial) return await dryRunWhole(call, caller, calls);
    const { result: { vectors, tokens }, ...served } = await runWholeCall(call, caller, calls);
    const usage = JSON.stringify({ usageMetadata: { promptTokenCount: tokens } }).slice(1);
    const written = await framedVectors(vectors, { ...frame, closing: `${end},${usage}` });
    return servedResponse(caller, { ...served, body: written, contentType: "application/json" });
  };
}
