import { GatewayError } from "../../lib/basics/gateway_error.ts";
import type { HeaderReader } from "./headers.ts";

/**
 * Whether the request is a dry run: the header `X-Service-Dry-Run`, which is `true` or `false`.
 *
 * @throws {GatewayError} `invalid_request` for any other value, since a typing error would cost money.
 */
export function isDryRun(headers: HeaderReader): boolean {
  const value = headers.get("x-service-dry-run");
  if (value === null || value === "false") return false;
  if (value === "true") return true;
  throw new GatewayError("invalid_request", 'Cannot read the header "X-Service-Dry-Run": expected true or false', {
    field: "X-Service-Dry-Run",
  });
}
