import { hasFreeDescriptors } from "../lib/process/descriptors.ts";
import { GatewayError } from "../lib/basics/gateway_error.ts";

const RETRY_AFTER_SECONDS = 5;
const MAX_CAUSES = 4;

/**
 * The error for a connection that was not made because the gateway, or its machine, has no free file descriptor; null
 * if that is not why. Then no peer has failed. Looking up a name fails with another error in this case, so a descriptor
 * is opened.
 */
export function descriptorShortage(error: unknown): GatewayError | null {
  if (!hasShortageCode(error) && hasFreeDescriptors(1)) return null;
  return new GatewayError("overloaded", "The gateway has no free file descriptors. Retry in a few seconds", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}

function hasShortageCode(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < MAX_CAUSES; cause = cause.cause, depth++) {
    if ("code" in cause && (cause.code === "EMFILE" || cause.code === "ENFILE")) return true;
  }
  return false;
}
