import { Buffer } from "node:buffer";
import { createPrivateKey, sign } from "node:crypto";
import type { AccessToken } from "../call/access_tokens.ts";
import type { ServiceAccountSource } from "../settings/cloud_config.ts";
import { readServiceAccountKey, type ServiceAccountKey } from "../settings/service_account_key.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { fetchTokenByForm } from "../call/token_exchange.ts";

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** Google accepts no longer validity. */
const LIFETIME_SECONDS = 3_600;

/** What a request for a token depends on. */
export interface ServiceAccountRequest {
  readonly source: ServiceAccountSource;
  /** The provider that the token is for. */
  readonly provider: string;
  /** Returns the client of the origin of an address. */
  readonly issuerAt: (tokenUrl: string, secret: string) => Outbound;
  /** Unix milliseconds. */
  readonly now: number;
  /** Ends the request. */
  readonly late: AbortSignal;
}

/**
 * Requests a token by an assertion that the account's key signs (RFC 7523, 2.1). A key file is read each time, so that
 * it can be replaced. Source: Google identity platform, "Using OAuth 2.0 for server to server applications".
 *
 * @throws {UpstreamFailure} `auth` also for a key file that cannot be read.
 */
export async function fetchServiceAccountToken(
  { source, provider, issuerAt, now, late }: ServiceAccountRequest,
): Promise<AccessToken> {
  const key = await keyOf(source, provider);
  const form = { grant_type: GRANT_TYPE, assertion: assertionOf(key, now, provider) };
  const issuer = issuerAt(key.tokenUrl, key.privateKey);
  return await fetchTokenByForm(issuer, new URL(key.tokenUrl).pathname, form, provider, late);
}

async function keyOf(source: ServiceAccountSource, provider: string): Promise<ServiceAccountKey> {
  if ("json" in source) return checked(readServiceAccountKey(source.json), provider);
  let json: string;
  try {
    json = await Deno.readTextFile(source.file);
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : "an error";
    throw unusable(provider, `service_account_file cannot be read (${name})`, cause);
  }
  return checked(readServiceAccountKey(json), provider);
}

function checked(key: ServiceAccountKey | null, provider: string): ServiceAccountKey {
  if (key === null) throw unusable(provider, "the key file of the service account is not valid");
  return key;
}

function assertionOf({ email, keyId, privateKey, tokenUrl }: ServiceAccountKey, now: number, provider: string): string {
  const issuedAt = Math.floor(now / 1_000);
  const header = encoded({ alg: "RS256", typ: "JWT", ...(keyId !== null && { kid: keyId }) });
  const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat: issuedAt, exp: issuedAt + LIFETIME_SECONDS };
  const text = `${header}.${encoded(claims)}`;
  try {
    return `${text}.${sign("sha256", Buffer.from(text), createPrivateKey(privateKey)).toString("base64url")}`;
  } catch {
    // The error of a key may show a part of it.
    throw unusable(provider, "private_key of the service account is not valid");
  }
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function unusable(provider: string, what: string, cause?: unknown): UpstreamFailure {
  const message = `Provider "${provider}" has no access token: ${what}`;
  return new UpstreamFailure(provider, "auth", message, { status: null, accepted: "no", cause });
}
