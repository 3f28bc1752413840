import { FilesUnavailableError } from "../files.ts";
import type { BucketAddress } from "./bucket_address.ts";

/** A request to a bucket that failed. The message has neither credentials nor the address of a request. */
export class BucketError extends FilesUnavailableError {
  /**
   * @param code The server's code, such as `NoSuchBucket`, or the kind of a connection failure.
   * @param status The status of the response; null without one.
   */
  constructor({ bucket, endpoint }: BucketAddress, readonly code: string, readonly status: number | null) {
    super(`Cannot use the bucket "${bucket}" at ${endpoint} (setting "files"): ${reasonOf(code, status)}`);
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.status === null || this.status >= 500 || this.status === 429 || TRANSIENT_CODES.has(this.code);
  }
}

const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  "SlowDown",
  "RequestTimeout",
  "InternalError",
  "OperationAborted",
]);

const REASONS: ReadonlyMap<string, string> = new Map([
  ["NoSuchBucket", "the bucket does not exist: create it, or correct its name"],
  ["AccessDenied", "access is denied: let these credentials list the bucket, and get, put and delete its objects"],
  ["InvalidAccessKeyId", "the access key id is unknown: correct files_credentials or AWS_ACCESS_KEY_ID"],
  ["SignatureDoesNotMatch", "the signature is rejected: correct the secret access key, the region or the endpoint"],
  ["RequestTimeTooSkewed", "the clock of this machine is wrong: synchronise it"],
  ["ExpiredToken", "the session token has expired: set a new one"],
  ["InvalidToken", "the session token is invalid: correct or remove it"],
  ["PermanentRedirect", "the bucket is in another region: correct region or endpoint"],
  ["AuthorizationHeaderMalformed", "the region is wrong: correct it"],
]);

function reasonOf(code: string, status: number | null): string {
  const facts = status === null ? code : `${code}, status ${status}`;
  const known = REASONS.get(code) ?? (status === null ? "no response" : null);
  return known === null ? `the request was refused (${facts})` : `${known} (${facts})`;
}
