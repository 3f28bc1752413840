import { FilesUnavailableError } from "../../../platform/files/files.ts";
import { type GatewayError, gatewayErrorOf } from "../../../platform/lib/basics/gateway_error.ts";
import { isStoreFailure, storageUnavailable } from "../../../platform/store/write_health.ts";

/**
 * The error that a caller gets for a thrown value. A store, a disk or a bucket that does not take a write or make a
 * read is `storage_unavailable`; any other unexpected value is `internal_error`.
 */
export function toCallerError(thrown: unknown): GatewayError {
  return isStoreFailure(thrown) || thrown instanceof FilesUnavailableError
    ? storageUnavailable(thrown)
    : gatewayErrorOf(thrown);
}
