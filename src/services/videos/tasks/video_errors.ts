import { type FinerCode, GatewayError } from "../../../platform/lib/basics/gateway_error.ts";

/** Creates a 400 error of the video endpoints with a specific code. Source: docs/api/errors.md#video-codes. */
export function videoError(finerCode: FinerCode, message: string, field?: string): GatewayError {
  return new GatewayError("invalid_request", message, { finerCode, field });
}

/**
 * Creates the error for a task that does not exist or belongs to another credential. Source:
 * docs/api/README.md#ownership.
 */
export function taskNotFound(): GatewayError {
  return new GatewayError("not_found", "Cannot find the video task");
}
