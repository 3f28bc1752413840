import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";

/** A `conflict` of a change that was made in part. Its entry in the audit log stays. */
export class UnfinishedChangeError extends GatewayError {
  /** @param message What stopped the change, and what to do. */
  constructor(message: string) {
    super("conflict", message);
  }
}
