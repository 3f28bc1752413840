import { writeError } from "../../conversation/codecs/content/caller/error.ts";
import type { ErrorRenderer } from "../../platform/http/request/inbound.ts";

/** `{error: {code, message, status}}`. Source: docs/api/errors.md#content-protocol. */
export const renderContentError: ErrorRenderer = (error) => Response.json(writeError(error), { status: error.status });
