import { responseHeadersOf } from "../http/headers.ts";
import type { OutboundResponse } from "../upstreams/outbound_call.ts";
import { isSameFormat, outputLimitOf, type TextAttempt } from "./attempt.ts";

const ENCODER = new TextEncoder();
const MAX_NAMES = 32;
const MAX_NAME_CHARACTERS = 80;

/** The media type of a streamed response. */
export function streamMediaType(framing: "sse" | "json_array"): string {
  return framing === "sse" ? "text/event-stream" : "application/json";
}

/**
 * Returns the header fields of a response that a provider served: the gateway's own, and those that the vendor reports
 * beside its body (see `responseHeadersOf`). The two sets share no name.
 *
 * @param droppedFields Names of the fields that the vendor does not support.
 */
export function responseHeaders(
  attempt: TextAttempt,
  response: Pick<OutboundResponse, "header">,
  contentType: string,
  droppedFields: readonly string[],
): HeadersInit {
  const headers: [string, string][] = [
    ["content-type", contentType],
    ["x-service-provider", attempt.provider.name],
    ["x-service-model", attempt.model.id],
    ...responseHeadersOf(
      (name) => response.header(name),
      isSameFormat(attempt.request, attempt.endpoint) ? attempt.endpoint.format.reportedHeaders : [],
    ),
  ];
  if (contentType === "text/event-stream") headers.push(["cache-control", "no-cache"]);
  const limit = outputLimitOf(attempt);
  if (limit !== null) headers.push(["x-service-output-limit", String(limit)]);
  const dropped = [...attempt.request.clampedLimit?.fields ?? [], ...droppedFields];
  if (dropped.length > 0) headers.push(["x-service-dropped", droppedFieldsHeader(dropped)]);
  return headers;
}

/** Returns a JSON value as bytes. */
export function jsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(JSON.stringify(value));
}

/**
 * Returns the names of dropped fields as a header value, each once. A caller can send thousands of unknown fields, and
 * clients reject a response head beyond some kilobytes.
 */
export function droppedFieldsHeader(droppedFields: readonly string[]): string {
  const names = [...new Set(droppedFields.map(fieldName))];
  const shown = names.slice(0, MAX_NAMES).join(", ");
  return names.length > MAX_NAMES ? `${shown}, ...` : shown;
}

/** Returns a name as a header can carry it: a caller may send any text as a key. */
function fieldName(name: string): string {
  return name.replace(/[^\x21-\x2b\x2d-\x7e]/g, "?").slice(0, MAX_NAME_CHARACTERS) || "?";
}
