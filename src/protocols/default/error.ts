import { chat } from "../../conversation/codecs/chat/mod.ts";
import type { ErrorRenderer } from "../../http/inbound.ts";

/** `{error: {message, type, code, param}}`. Source: docs/api/errors.md#default-protocol. */
export const renderDefaultError: ErrorRenderer = (error, requestId) =>
  Response.json(chat.caller.writeError(error, requestId), { status: error.status });
