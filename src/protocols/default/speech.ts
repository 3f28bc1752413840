import { speechCall } from "../../services/audio/speech_call.ts";
import { readSpeechRequest } from "../../services/audio/speech_request.ts";
import { runWholeCall } from "../../services/calls/run_whole_call.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import { UNBUFFERED } from "../../platform/http/request/headers.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { routesAt } from "../route_at.ts";
import { servedHeaders, wholeCallerOf, type WholeCallParts } from "../whole_call_parts.ts";
import { dryRunWhole } from "../whole_dry_run.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** `POST /v1/audio/speech`. */
export function defaultSpeechRoutes(parts: WholeCallParts): Route[] {
  return routesAt(ENDPOINTS.createSpeech, speech(parts));
}

/** For vendors that state none. Source: IANA, "Media Types"; of `pcm`: OpenAI's responses. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

function speech({ calls, catalog, authenticate, bodyLimits }: WholeCallParts): Handler {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const isTrial = isDryRun(inbound.request.headers);
    const { body, bytes } = await readJsonObject(inbound, bodyLimits);
    inbound.record.capture?.takeRequest(bytes);
    const request = readSpeechRequest(body, permittedCatalog(catalog.at(inbound.receivedAt), credential.limits));
    const caller = wholeCallerOf(inbound, credential);
    const call = speechCall(request, calls);
    if (isTrial) return await dryRunWhole(call, caller, calls);
    const { result, ...served } = await runWholeCall(call, caller, calls);
    const { mediaType } = result;
    const contentType = mediaType === "application/octet-stream"
      ? ownValue(MEDIA_TYPES, request.format ?? "mp3") ?? mediaType
      : mediaType;
    const headers = servedHeaders(caller, { ...served, contentType });
    return new Response(result.body, { headers: { ...headers, ...UNBUFFERED } });
  };
}
