import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { Authorize, Credentials, HeaderFields } from "../call/authorization.ts";

/** The maximum lag of the vendor's clock. */
const MAX_CLOCK_SKEW_SECONDS = 60;
/** The longest token lifetime in the vendor's documentation, from the start of its validity. */
const LIFETIME_SECONDS = 1_800;
/** Tokens are renewed long before they expire, because the vendor's clock may be ahead. */
const RENEWAL_MS = 900_000;

interface Token {
  readonly fields: HeaderFields;
  /** Unix milliseconds. */
  readonly madeAt: number;
}

/**
 * Authorizes with the API key. If a secret key is configured, authorizes with a token that names the API key and is
 * signed with the secret key. Source: Kling API reference, "General Information", "API Authentication" (JWT, RFC 7519,
 * HS256).
 */
export function byKeyOrToken(): Authorize {
  const keyFields = new WeakMap<Credentials, HeaderFields>();
  const tokens = new WeakMap<Credentials, Token>();
  return ({ now }, credentials) => {
    if (credentials.secretKey === undefined) {
      const fields = keyFields.get(credentials) ?? bearer(credentials.apiKey);
      keyFields.set(credentials, fields);
      return fields;
    }
    let token = tokens.get(credentials);
    // After the clock was set back, the stored token is not valid yet.
    if (token === undefined || now < token.madeAt || now >= token.madeAt + RENEWAL_MS) {
      token = { fields: bearer(signedToken(credentials.apiKey, credentials.secretKey, now)), madeAt: now };
      tokens.set(credentials, token);
    }
    return token.fields;
  };
}

function bearer(token: string): HeaderFields {
  return { authorization: `Bearer ${token}` };
}

function signedToken(accessKey: string, secretKey: string, now: number): string {
  const validFrom = Math.floor(now / 1_000) - MAX_CLOCK_SKEW_SECONDS;
  const header = encoded({ alg: "HS256", typ: "JWT" });
  const claims = encoded({ iss: accessKey, exp: validFrom + LIFETIME_SECONDS, nbf: validFrom });
  const signature = createHmac("sha256", secretKey).update(`${header}.${claims}`).digest("base64url");
  return `${header}.${claims}.${signature}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
