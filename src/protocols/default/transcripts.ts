import { measureTranscript, transcriptCall, type TranscriptParts } from "../../services/audio/transcript_call.ts";
import { readTranscriptRequest } from "../../services/audio/transcript_request.ts";
import type { UploadFormLimits } from "../../services/calls/upload_form.ts";
import { runWholeCall } from "../../services/calls/run_whole_call.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Spool } from "../../platform/files/spool.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import type { TranscriptFormat } from "../../vendors/upstreams/contract/transcript_upstream.ts";
import { routesAt } from "../route_at.ts";
import { servedResponse, wholeCallerOf, type WholeCallParts } from "../whole_call_parts.ts";
import { dryRunWhole } from "../whole_dry_run.ts";

/** The dependencies of transcriptions. */
export interface TranscriptRouteParts extends WholeCallParts {
  readonly calls: TranscriptParts;
  readonly audioForm: UploadFormLimits;
  /** Stores uploads. */
  readonly spool: Spool;
}

/** `POST /v1/audio/transcriptions` and `POST /v1/audio/translations`. */
export function defaultTranscriptRoutes(parts: TranscriptRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createTranscription, transcripts(parts, false)),
    ...routesAt(ENDPOINTS.createTranslation, transcripts(parts, true)),
  ];
}

function transcripts(
  { calls, catalog, authenticate, audioForm: limits, spool }: TranscriptRouteParts,
  translates: boolean,
): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const isTrial = isDryRun(inbound.request.headers);
    const room = spool.openRequest();
    try {
      const permitted = permittedCatalog(catalog.at(inbound.receivedAt), credential.limits);
      const request = await readTranscriptRequest(inbound, permitted, { translates, limits, room });
      const caller = wholeCallerOf(inbound, credential);
      // An account without credit is refused before its audio is measured.
      if (!isTrial) await calls.meter.allowance(caller);
      const call = transcriptCall(request, await measureTranscript(request, caller, calls), calls);
      if (isTrial) return await dryRunWhole(call, caller, calls);
      const { result: { bytes: body }, ...served } = await runWholeCall(call, caller, calls);
      return servedResponse(caller, { ...served, body, contentType: contentTypeOf(request.format) });
    } finally {
      await room.clear();
    }
  };
}

/** As OpenAI's responses. */
function contentTypeOf(format: TranscriptFormat): string {
  return format.endsWith("json") ? "application/json" : "text/plain; charset=utf-8";
}
