import { content } from "../../conversation/codecs/content/mod.ts";
import type { ErrorRenderer } from "../../http/inbound.ts";

/** `{error: {code, message, status}}`. Source: DESIGN "Errors". */
export const renderContentError: ErrorRenderer = (error, requestId) =>
  Response.json(content.caller.writeError(error, requestId), { status: error.status });
