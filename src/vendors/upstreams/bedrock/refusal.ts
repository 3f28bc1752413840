import { converse } from "../../../conversation/codecs/converse/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { FailureKind } from "../call/failure.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

/**
 * What the vendor's error codes mean where the status says something else. Sources: Amazon Bedrock API reference,
 * "Converse", "Errors"; "Common Errors".
 */
const KINDS: ReadonlyMap<string | null, FailureKind> = new Map([
  ["UnrecognizedClientException", "auth"],
  ["InvalidClientTokenId", "auth"],
  ["MissingAuthenticationTokenException", "auth"],
  ["IncompleteSignatureException", "auth"],
  ["InvalidSignatureException", "auth"],
  ["SignatureDoesNotMatch", "auth"],
  ["ExpiredTokenException", "auth"],
  ["ExpiredToken", "auth"],
  ["RequestExpired", "auth"],
  ["OptInRequired", "auth"],
  ["ServiceQuotaExceededException", "rate_limited"],
  // The models' own failures, with status 424 and 429.
  ["ModelErrorException", "unavailable"],
  ["ModelStreamErrorException", "unavailable"],
  ["ModelNotReadyException", "unavailable"],
]);

/** Names of users and roles, which contain the number of the operator's account. */
const IDENTITY = /\barn:aws[\w-]*:(?:iam|sts)::\S+/g;

/**
 * Reads an error of Bedrock, whose code is in a header field.
 *
 * @param fieldOf Returns a header field of the response by its lower-case name.
 */
export function readRefusal(body: unknown, fieldOf: (name: string) => string | null): VendorRefusal {
  const error = converse.upstream.readError(body);
  // `ValidationException:http://internal.amazon.com/coral/…`
  const code = /^[A-Za-z]{1,64}/.exec(fieldOf("x-amzn-errortype") ?? "")?.[0] ?? error.code;
  const isKeyRejected = code === "AccessDeniedException" && ERROR_TEXTS.bedrockKeyRejected.test(error.message);
  return {
    ...error,
    // A rejected signature is followed by what was signed.
    message: error.message.replace(/\n[^]*$/, "").replaceAll(IDENTITY, "[redacted]"),
    code: error.code === "context_length_exceeded" ? error.code : code,
    kind: isKeyRejected ? "auth" : KINDS.get(code),
  };
}
