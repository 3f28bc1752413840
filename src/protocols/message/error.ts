import { messages } from "../../conversation/codecs/messages/mod.ts";
import type { ErrorRenderer } from "../../http/inbound.ts";

/** `{type: "error", error: {type, message}, request_id}`. Source: docs/api/errors.md#message-protocol. */
export const renderMessageError: ErrorRenderer = (error, requestId) =>
  Response.json(messages.caller.writeError(error, requestId), { status: error.status });
