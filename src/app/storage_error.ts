import { FilesUnavailableError } from "../files/files.ts";
import { type GatewayError, gatewayErrorOf } from "../lib/gateway_error.ts";
import { StoreWriteError } from "../store/store_write_error.ts";
import { isDiskFailure, storageUnavailable } from "../store/write_health.ts";

/**
 * The error that a caller gets for a thrown value. A write that the store or the disk refused, and a bucket that does
 * not answer, is `storage_unavailable`; any other unexpected value is `internal_error`.
 */
export function toCallerError(thrown: unknown): GatewayError {
  return thrown instanceof StoreWriteError || thrown instanceof FilesUnavailableError || isDiskFailure(thrown)
    ? storageUnavailable(thrown)
    : gatewayErrorOf(thrown);
}
