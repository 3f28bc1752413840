import { AwsV4Signer } from "aws4fetch";
import type { Authorize, Credentials, HeaderFields, Rejection, RequestToAuthorize } from "../call/authorization.ts";
import { byFixedHeaders } from "../call/authorization.ts";
import { payloadHash } from "./payload_hash.ts";

/** The name of the service in signatures, also for the hosts of its runtime. */
const SERVICE = "bedrock";

/** Errors of a signature that a wrong clock can cause. Source: AWS SDK for JavaScript, clock skew errors. */
const CLOCK_ERRORS: ReadonlySet<string | null> = new Set([
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
  "RequestExpired",
  "RequestTimeTooSkewed",
]);
/** The vendor accepts five minutes. A smaller difference does not explain a rejection. */
const MIN_SKEW_MS = 120_000;

interface Signing {
  /** Derived keys by day, for the signer. */
  keys: Map<string, ArrayBuffer>;
  /** How far the vendor's clock is ahead of this machine's, as far as it was found to matter. */
  skewMs: number;
}

const signings = new WeakMap<Credentials, Signing>();

const byApiKey = byFixedHeaders(({ apiKey }) => ({ authorization: `Bearer ${apiKey}` }));

/**
 * Authorizes with an API key of Bedrock, or with a signature by an access key and its secret key (Signature Version 4).
 * Sources: Amazon Bedrock User Guide, "API keys"; IAM User Guide, "Create a signed AWS API request".
 */
export const byKeyOrSignature: Authorize = (request, credentials) => {
  const { secretKey } = credentials;
  return secretKey === undefined ? byApiKey(request, credentials) : signed(request, credentials, secretKey);
};

/**
 * Adopts the vendor's clock after it rejected the time of a signature. Returns whether a new signature has a chance.
 */
export function adoptsClock({ code, vendorTime, now }: Rejection, credentials: Credentials): boolean {
  const signing = signings.get(credentials);
  if (signing === undefined || vendorTime === null || !CLOCK_ERRORS.has(code)) return false;
  const skewMs = vendorTime - now;
  if (Math.abs(skewMs - signing.skewMs) < MIN_SKEW_MS) return false;
  signing.skewMs = skewMs;
  return true;
}

async function signed(request: RequestToAuthorize, credentials: Credentials, secretKey: string): Promise<HeaderFields> {
  const { apiKey, sessionToken, region = "" } = credentials;
  const signing = signingOf(credentials);
  const hash = await payloadHash(request.parts());
  const signer = new AwsV4Signer({
    method: request.method,
    // Only the host and the path are signed.
    url: `https://${request.host}${request.path}`,
    headers: { "x-amz-content-sha256": hash },
    accessKeyId: apiKey,
    secretAccessKey: secretKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: SERVICE,
    region,
    cache: signing.keys,
    datetime: new Date(request.now + signing.skewMs).toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  const { headers } = await signer.sign();
  return Object.fromEntries(headers);
}

function signingOf(credentials: Credentials): Signing {
  const known = signings.get(credentials);
  if (known !== undefined) {
    if (known.keys.size > 1) known.keys = new Map(); // the key of a day before
    return known;
  }
  const signing: Signing = { keys: new Map(), skewMs: 0 };
  signings.set(credentials, signing);
  return signing;
}
