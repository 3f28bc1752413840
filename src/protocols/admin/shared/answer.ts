import type { ErrorRenderer } from "../../../platform/http/request/inbound.ts";

/** A response of the admin API. It must not be cached: it contains balances and sometimes secrets. */
export function answerJson(body: unknown, status = 200): Response {
  return Response.json(body, { status, headers: { "cache-control": "no-store" } });
}

/** Renders an error of the admin API: `{error: {code, message, field?, doc_url}}`. */
export const renderAdminError: ErrorRenderer = ({ code, message, status, details }, _requestId, _asked, docUrl) =>
  answerJson({ error: { code, message, field: details.field, doc_url: docUrl } }, status);
