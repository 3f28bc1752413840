import { AwsV4Signer } from "aws4fetch";
import { createHash } from "node:crypto";
import { type Call, isRejectedKey } from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";

/** The secret key of every access key. */
const SECRET_KEY = "sandbox-secret";
const REGION_AND_SERVICE = /^[a-z0-9-]+\/bedrock\/aws4_request$/;
const MAX_SKEW_MS = 300_000;

/**
 * Accepts an API key, or a signature by an access key with the secret key `sandbox-secret` over the bytes that came.
 *
 * @throws {SimulatedError} 403 with the vendor's code.
 */
export async function checkCredential(call: Call): Promise<void> {
  const authorization = call.headers.get("authorization") ?? "";
  const key = /^Bearer (\S+)$/.exec(authorization)?.[1];
  if (key !== undefined) {
    if (!isRejectedKey(key)) return;
    throw refused("AccessDeniedException", "Authentication failed: Please make sure your API Key is valid.");
  }
  const [, accessKey = "", day = "", scope = "", names = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
      .exec(authorization) ?? [];
  if (signature === undefined) throw refused("MissingAuthenticationTokenException", "Missing Authentication Token");
  if (isRejectedKey(accessKey)) {
    throw refused("UnrecognizedClientException", "The security token included in the request is invalid.");
  }
  if (call.headers.get("x-amz-security-token")?.startsWith("expired")) {
    throw refused("ExpiredTokenException", "The security token included in the request is expired");
  }
  const signedAt = call.headers.get("x-amz-date") ?? "";
  if (Math.abs(timeOf(signedAt) - call.vendors.clock.now()) > MAX_SKEW_MS || !signedAt.startsWith(day)) {
    throw refused("InvalidSignatureException", `Signature expired: ${signedAt} is now earlier than the accepted time`);
  }
  const hash = createHash("sha256").update(call.text).digest("hex");
  const isComplete = ["host", "x-amz-date", "x-amz-content-sha256"].every((name) => names.split(";").includes(name));
  const isSame = hash === call.headers.get("x-amz-content-sha256") && REGION_AND_SERVICE.test(scope) && isComplete &&
    signature === await signatureOf(call, { accessKey, region: scope.split("/")[0] ?? "", names: names.split(";") });
  if (isSame) return;
  throw refused(
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided.\n\nThe Canonical String was …",
  );
}

interface Signed {
  readonly accessKey: string;
  readonly region: string;
  readonly names: readonly string[];
}

async function signatureOf(call: Call, { accessKey, region, names }: Signed): Promise<string | undefined> {
  const headers = names.filter((name) => name !== "host" && name !== "x-amz-date" && name !== "x-amz-security-token")
    .map((name): [string, string] => [name, call.headers.get(name) ?? ""]);
  const sessionToken = call.headers.get("x-amz-security-token");
  const query = call.query.size === 0 ? "" : `?${call.query}`;
  const signer = new AwsV4Signer({
    method: call.method,
    url: `https://${call.headers.get("host")}${call.prefix}${call.path}${query}`,
    headers,
    accessKeyId: accessKey,
    secretAccessKey: SECRET_KEY,
    ...(sessionToken !== null && { sessionToken }),
    service: "bedrock",
    region,
    datetime: call.headers.get("x-amz-date") ?? "",
    allHeaders: true, // those that were signed, and no others
  });
  const signed = await signer.sign();
  return /Signature=([0-9a-f]{64})$/.exec(signed.headers.get("authorization") ?? "")?.[1];
}

/** The Unix milliseconds of `20261126T170400Z`. */
function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

function refused(code: string, message: string): SimulatedError {
  return new SimulatedError(403, message, { code });
}
