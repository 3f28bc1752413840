/** The parts of a vendor request that a signature can cover. */
export interface RequestToAuthorize {
  /** `GET`, `POST` and so on. */
  readonly method: string;
  /** Includes the path of the base URL and the query. */
  readonly path: string;
  /** Returns the bytes of the body, copied if they are in parts; null for no body and for a streamed body. */
  readonly body: () => Uint8Array | null;
  /** The time of the request, in Unix milliseconds, for tokens and signatures that contain a timestamp. */
  readonly now: number;
}

/** The configured credentials of a provider. */
export interface Credentials {
  /** Never logged. */
  readonly apiKey: string;
  /** Never logged. The key that signs tokens for `apiKey`, for kinds with a key pair; absent for a single key. */
  readonly secretKey?: string;
}

/** Header values by lower-case name. */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * Returns the header fields that authorize a request. The result is immediate for a key, and a promise for a token that
 * must be fetched. Called for every request, so that a signature can cover it. Rejects with an `UpstreamFailure` of
 * kind `auth` if no token is available.
 */
export type Authorize = (request: RequestToAuthorize, credentials: Credentials) => HeaderFields | Promise<HeaderFields>;

/** For vendors with the same fields in every request. The fields are built once per credential. */
export function byFixedHeaders(fieldsOf: (credentials: Credentials) => HeaderFields): Authorize {
  const fieldsByCredentials = new WeakMap<Credentials, HeaderFields>();
  return (_, credentials) => {
    let fields = fieldsByCredentials.get(credentials);
    if (fields === undefined) fieldsByCredentials.set(credentials, fields = fieldsOf(credentials));
    return fields;
  };
}
