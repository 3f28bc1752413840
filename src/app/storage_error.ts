import { type GatewayError, gatewayErrorOf } from "../lib/gateway_error.ts";
import { StoreWriteError } from "../store/kv/group_commit.ts";
import { isDiskFailure, storageUnavailable } from "../store/write_health.ts";

/**
 * Any thrown thing as the error to answer with: a write that the store or the disk refused is `storage_unavailable`,
 * not a fault of the gateway.
 */
export function errorForCallerOf(thrown: unknown): GatewayError {
  return thrown instanceof StoreWriteError || isDiskFailure(thrown)
    ? storageUnavailable(thrown)
    : gatewayErrorOf(thrown);
}
