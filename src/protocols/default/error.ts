import { defaultErrorFields } from "../../conversation/parts/reply/default_error.ts";
import type { ErrorRenderer } from "../../platform/http/request/inbound.ts";

/** `{error: {message, type, code, param, doc_url}}`. Source: docs/api/errors.md#default-protocol. */
export const renderDefaultError: ErrorRenderer = (error, _requestId, _asked, docUrl) =>
  Response.json({ error: { ...defaultErrorFields(error), doc_url: docUrl } }, { status: error.status });
