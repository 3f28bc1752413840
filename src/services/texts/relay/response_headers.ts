import { droppedFieldsHeader } from "../../../platform/http/request/dropped_fields_header.ts";
import { Buffer } from "node:buffer";
import { writeMoney } from "../../../platform/lib/basics/money.ts";
import { addReportedHeaders, type FieldSource, UNBUFFERED } from "../../../platform/http/request/headers.ts";
import type { RequestRecord } from "../../../platform/http/request/request_record.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import { vendorRequestIdOf } from "../../../vendors/upstreams/call/vendor_request_id.ts";
import { isSameFormat, outputLimitOf, type TextAttempt } from "../plan/attempt.ts";
import { wellFormedJson } from "../../../platform/lib/json/well_formed_json.ts";

/** {@linkcode responseHeaders} of a response that is streamed, in the framing that its request asks for. */
export function streamHeaders(
  attempt: TextAttempt,
  response: Pick<OutboundResponse, "header" | "status">,
  droppedFields: readonly string[],
): Record<string, string> {
  const contentType = attempt.request.framing === "sse" ? "text/event-stream" : "application/json";
  const headers = responseHeaders(attempt, response, contentType, droppedFields);
  return Object.assign(headers, UNBUFFERED);
}

/**
 * Returns the header fields of a response that a provider served: those of every response, the gateway's own, and those
 * that the vendor reports beside its body (see `addReportedHeaders`). The sets share no name.
 *
 * @param droppedFields Names of the fields that the vendor does not support.
 */
export function responseHeaders(
  attempt: TextAttempt,
  response: Pick<OutboundResponse, "header" | "status">,
  contentType: string,
  droppedFields: readonly string[],
): Record<string, string> {
  const { request, endpoint, provider, model } = attempt;
  const headers: Record<string, string> = request.responseFields?.() ?? {};
  headers["content-type"] = contentType;
  headers["x-service-provider"] = provider.name;
  headers["x-service-model"] = model.id;
  const reported = isSameFormat(request, endpoint) ? endpoint.format.reportedHeaders : [];
  const fieldOf: FieldSource = (name) => response.header(name);
  addReportedHeaders(headers, fieldOf, reported);
  if (contentType === "text/event-stream") headers["cache-control"] = "no-cache";
  const limit = outputLimitOf(attempt);
  if (limit !== null) headers["x-service-output-limit"] = String(limit);
  const dropped = request.clampedLimit ? [...request.clampedLimit.fields, ...droppedFields] : droppedFields;
  if (dropped.length > 0) headers["x-service-dropped"] = droppedFieldsHeader(dropped);
  const { cost, cacheSaved } = request.record;
  if (cost !== null) headers["x-service-cost"] = writeMoney(cost);
  if (cacheSaved !== undefined) headers["x-service-cache-saved"] = writeMoney(cacheSaved);
  request.record.dropped = dropped;
  const recorded = request.record.lastAttempt;
  if (recorded === null) return headers;
  recorded.status = response.status;
  recorded.vendorRequestId = vendorRequestIdOf(fieldOf);
  return headers;
}

/**
 * Returns a response with a whole body. Fields that are set one by one cost the platform half of what fields in the
 * constructor's options cost.
 */
export function wholeResponse(
  record: RequestRecord,
  body: Uint8Array<ArrayBuffer>,
  fields: Readonly<Record<string, string>>,
): Response {
  record.responseBytes = body.length;
  record.capture?.addResponse(body);
  const response = new Response(body);
  const { headers } = response;
  for (const name in fields) headers.set(name, fields[name]!);
  return response;
}

/** Returns a JSON value as bytes, without halves of characters. */
export function jsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return Buffer.from(wellFormedJson(value)) as Uint8Array<ArrayBuffer>;
}
