import { type GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { UnsupportedField } from "../../vendors/upstreams/contract/unsupported_field.ts";

/** The error for a field that a vendor lacks; null without one. */
export function mistakeOf(unsupported: UnsupportedField | null): GatewayError | null {
  return unsupported === null ? null : invalidField(unsupported.field, unsupported.expected);
}
