/** A request to a vendor, as far as a signature over it needs. */
export interface RequestToAuthorize {
  /** `GET`, `POST` and so on. */
  readonly method: string;
  /** With the base address's own path, and with query. */
  readonly path: string;
  /** The bytes of the body; null when there is none, or when it is read while it is sent. */
  readonly body: Uint8Array | null;
  /** When it is sent, in Unix milliseconds: for tokens and signatures that name an instant. */
  readonly now: number;
}

/** What a provider is configured with to show who it is. */
export interface Credentials {
  /** Never logged. */
  readonly apiKey: string;
  /** Never logged. What `apiKey` is signed with, for kinds that take a pair; missing for a key alone. */
  readonly secretKey?: string;
}

/** Header fields by name in lower case. */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * Gives the header fields by which a vendor knows the sender: at once for a key, later for a token that must be fetched
 * first. Called for every request, so that a signature can cover it. Rejects with an `UpstreamFailure` of kind `auth`
 * where no token is to be had.
 */
export type Authorize = (request: RequestToAuthorize, credentials: Credentials) => HeaderFields | Promise<HeaderFields>;

/** For vendors that take the same fields with every request; they are made once for each credential. */
export function byFixedHeaders(fieldsOf: (credentials: Credentials) => HeaderFields): Authorize {
  const made = new WeakMap<Credentials, HeaderFields>();
  return (_, credentials) => {
    let fields = made.get(credentials);
    if (fields === undefined) made.set(credentials, fields = fieldsOf(credentials));
    return fields;
  };
}
