import { Buffer } from "node:buffer";

/** The name of a wire format that callers and vendors use. */
export type CallerFormatName = "chat" | "responses" | "messages" | "content";

/** The name of a wire format for conversations, also of one that vendors alone use. */
export type WireFormatName = CallerFormatName | "converse";

/**
 * An opaque value that a vendor attaches to reasoning, tool calls or text and expects back byte for byte: `signature`,
 * `encrypted_content`, `thoughtSignature` or `redacted_thinking.data`. Only its issuer can use it.
 */
export interface ReasoningSignature {
  /** The wire format that it was issued in. */
  readonly format: WireFormatName;
  /** The provider that issued it; null when unknown (sent by a caller unwrapped, or just read from a reply). */
  readonly issuer: string | null;
  /** The vendor's value, unchanged. */
  readonly value: string;
}

/** True for a value that this provider issued in this format, or may have: the issuer can be unknown. */
export function isIssuedBy(
  origin: Pick<ReasoningSignature, "format" | "issuer"> | undefined,
  format: WireFormatName,
  provider: string,
): boolean {
  return origin?.format === format && (origin.issuer === null || origin.issuer === provider);
}

const MARK = "sy1";

/** The start of every wrapped signature, by which a body can be searched without parsing. */
export const WRAPPED_SIGNATURE_PREFIX: string = Buffer.from(`${MARK}.`).toString("base64").slice(0, 5);

/**
 * A signature as sent to a caller: base64 of `sy1.<format>.<issuer>.<value>`, so that its origin is known when the
 * caller sends it back. Standard base64, because the content format decodes it to bytes. A signature of the caller's
 * own format and of an unknown issuer is not wrapped.
 */
export function writeSignature(signature: ReasoningSignature, callerFormat: WireFormatName): string {
  if (signature.issuer === null && signature.format === callerFormat) return signature.value;
  const issuer = withoutDots(signature.issuer ?? "");
  return Buffer.from(`${MARK}.${signature.format}.${issuer}.${signature.value}`).toString("base64");
}

/** The inverse of {@linkcode writeSignature}: an unwrapped value has the caller's format and an unknown issuer. */
export function readSignature(text: string, callerFormat: WireFormatName): ReasoningSignature {
  if (text.startsWith(WRAPPED_SIGNATURE_PREFIX)) {
    // Some clients send the value back in the URL-safe alphabet; Buffer reads both.
    const [mark, format, issuer, ...value] = Buffer.from(text, "base64").toString().split(".");
    if (mark === MARK && isFormatName(format) && issuer !== undefined) {
      return { format, issuer: withDots(issuer) || null, value: value.join(".") };
    }
  }
  return { format: callerFormat, issuer: null, value: text };
}

/** Escapes dots in a provider's name, because dots separate the fields of a wrapped signature. */
function withoutDots(issuer: string): string {
  return issuer.replace(/[.%]/g, (sign) => sign === "." ? "%2E" : "%25");
}

function withDots(issuer: string): string {
  return issuer.replace(/%2E|%25/g, (code) => code === "%2E" ? "." : "%");
}

function isFormatName(word: string | undefined): word is WireFormatName {
  return word === "chat" || word === "responses" || word === "messages" || word === "content" || word === "converse";
}
