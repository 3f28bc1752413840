import { type FinerCode, GatewayError } from "../../lib/gateway_error.ts";

/** A 400 of the video endpoints with a word of its own. Source: docs/api/errors.md#video-codes. */
export function videoRefusal(finerCode: FinerCode, message: string, field?: string): GatewayError {
  return new GatewayError("invalid_request", message, { finerCode, field });
}

/**
 * What answers for a task that does not exist and for one of another credential alike. Source:
 * docs/api/README.md#ownership.
 */
export function taskNotFound(): GatewayError {
  return new GatewayError("not_found", "Cannot find the video task");
}
