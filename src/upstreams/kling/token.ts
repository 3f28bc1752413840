import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { Authorize, Credentials, HeaderFields } from "../authorization.ts";

/** A vendor's clock may go before ours by so much. */
const SKEW_SECONDS = 60;
/** The longest life that the vendor's documentation shows, from the moment at which a token is good. */
const LIFE_SECONDS = 1_800;
/** Tokens are made anew long before their end, as the vendor's clock may go after ours. */
const RENEWAL_MS = 900_000;

interface Token {
  readonly fields: HeaderFields;
  /** Unix milliseconds. */
  readonly madeAt: number;
}

/**
 * Authorizes by an API key as it is, or where a secret key stands beside it by a token that is signed with the secret
 * key and names the key. Source: Kling API reference, "General Information", "API Authentication" (JWT, RFC 7519,
 * HS256).
 */
export function byKeyOrToken(): Authorize {
  const plain = new WeakMap<Credentials, HeaderFields>();
  const tokens = new WeakMap<Credentials, Token>();
  return ({ now }, credentials) => {
    if (credentials.secretKey === undefined) {
      const fields = plain.get(credentials) ?? bearer(credentials.apiKey);
      plain.set(credentials, fields);
      return fields;
    }
    let token = tokens.get(credentials);
    // A clock that was set back makes tokens that are not good yet.
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
  const validFrom = Math.floor(now / 1_000) - SKEW_SECONDS;
  const header = encoded({ alg: "HS256", typ: "JWT" });
  const claims = encoded({ iss: accessKey, exp: validFrom + LIFE_SECONDS, nbf: validFrom });
  const signature = createHmac("sha256", secretKey).update(`${header}.${claims}`).digest("base64url");
  return `${header}.${claims}.${signature}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
