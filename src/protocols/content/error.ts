import { content } from "../../conversation/codecs/content/mod.ts";
import type { ErrorRenderer } from "../../http/inbound.ts";

/** `{error: {code, message, status}}`. Source: docs/api/errors.md#content-protocol. */
export const renderContentError: ErrorRenderer = (error, requestId) =>
  Response.json(content.caller.writeError(error, requestId), { status: error.status });
