import { writeError } from "../../conversation/codecs/messages/caller/error.ts";
import type { ErrorRenderer } from "../../platform/http/request/inbound.ts";

/** `{type: "error", error: {type, message, doc_url}, request_id}`. Source: docs/api/errors.md#message-protocol. */
export const renderMessageError: ErrorRenderer = (error, requestId, _asked, docUrl) => {
  const body = writeError(error, requestId);
  return Response.json({ ...body, error: Object.assign({}, body.error, { doc_url: docUrl }) }, {
    status: error.status,
  });
};
