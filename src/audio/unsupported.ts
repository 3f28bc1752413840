import { type GatewayError, invalidField } from "../lib/gateway_error.ts";
import type { UnsupportedField } from "../upstreams/unsupported_field.ts";

/** The error for a field that a vendor lacks; null without one. */
export function mistakeOf(unsupported: UnsupportedField | null): GatewayError | null {
  return unsupported === null ? null : invalidField(unsupported.field, unsupported.expected);
}
