import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";

/** The parts of a vendor request that a signature can cover. */
export interface RequestToAuthorize {
  /** `GET`, `POST` and so on. */
  readonly method: string;
  /** Includes the path of the base URL and the query. */
  readonly path: string;
  /** The header field `host`. */
  readonly host: string;
  /** Returns the bytes of the body in its parts, without a copy; none for no body and for a streamed body. */
  readonly parts: () => readonly Uint8Array[];
  /** The time of the request, in Unix milliseconds, for tokens and signatures that contain a timestamp. */
  readonly now: number;
}

/** The configured credentials of a provider. */
export interface Credentials {
  /** Never logged. */
  readonly apiKey: string;
  /** Never logged. The key that signs tokens for `apiKey`, for kinds with a key pair; absent for a single key. */
  readonly secretKey?: string;
  /** Never logged. The token of a temporary key pair; absent for a lasting one. */
  readonly sessionToken?: string;
  /** The region that signatures name; absent for kinds without regions. */
  readonly region?: string;
}

/** Header values by lower-case name. */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * Returns the header fields that authorize a request. The result is immediate for a key, and a promise for a token that
 * must be fetched. Called for every request, so that a signature can cover it. Rejects with an `UpstreamFailure` of
 * kind `auth` if no token is available.
 */
export type Authorize = (request: RequestToAuthorize, credentials: Credentials) => MaybePromise<HeaderFields>;

/** A request whose authorization the vendor rejected: with status 401 or 403, before any work. */
export interface Rejection {
  /** The fields that authorized it. */
  readonly fields: HeaderFields;
  /** The HTTP status, 401 or 403. */
  readonly status: number;
  /** The vendor's error code; null if the response has none. */
  readonly code: string | null;
  /** The vendor's clock at its response, in Unix milliseconds; null if the response does not state it. */
  readonly vendorTime: number | null;
  /** The time at which the request was authorized, in Unix milliseconds. */
  readonly now: number;
}

/** For vendors with the same fields in every request. The fields are built once per credential. */
export function byFixedHeaders(fieldsOf: (credentials: Credentials) => HeaderFields): Authorize {
  const fieldsByCredentials = new WeakMap<Credentials, HeaderFields>();
  return (_, credentials) => {
    let fields = fieldsByCredentials.get(credentials);
    if (fields === undefined) fieldsByCredentials.set(credentials, fields = fieldsOf(credentials));
    return fields;
  };
}
