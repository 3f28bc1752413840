import type { ErrorRenderer } from "../../../platform/http/request/inbound.ts";
import { dialectOf } from "./video_dialects.ts";

const NO_HEADERS = new Headers();

/**
 * `{error: {code, message}}`; the two routing errors carry `type` as well. Source: docs/api/errors.md#video-endpoints.
 */
export const renderVideoError: ErrorRenderer = (error, _requestId, asked = NO_HEADERS) => {
  const isRouting = error.code === "invalid_provider_type" || error.code === "provider_type_unavailable";
  // All failures of a provider have one code. Source: docs/api/errors.md#video-endpoints.
  const isTimeout = error.code === "upstream_timeout";
  const code = error.details.finerCode ?? (isTimeout ? "upstream_error" : error.code);
  const status = isTimeout ? 502 : error.status;
  const body = { code, message: error.message, ...(isRouting ? { type: error.code } : {}) };
  return Response.json({ error: dialectOf(asked).writeError(body, status) }, {
    status,
    headers: error.details.headers ?? {},
  });
};
