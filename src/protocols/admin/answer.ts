import type { ErrorRenderer } from "../../http/inbound.ts";

/** A body of the administration protocol. Nothing on the way may keep it: it tells of money and, once, of secrets. */
export function answerJson(body: unknown, status = 200): Response {
  return Response.json(body, { status, headers: { "cache-control": "no-store" } });
}

/** A failure in the administration protocol's shape: `{error: {code, message, field?}}`. */
export const renderAdminError: ErrorRenderer = ({ code, message, status, details }) =>
  answerJson({ error: { code, message, field: details.field } }, status);
