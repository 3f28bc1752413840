import { readSignature, type ReasoningSignature, writeSignature } from "../../../reasoning_signature.ts";

/**
 * The signature of a thinking block without one, because clients require the field. It is a wrapped signature with an
 * empty value, so that a body with it is found by the search for signatures of other vendors.
 */
export const UNSIGNED: string = writeSignature({ form: "chat", issuer: null, value: "" }, "messages");

/** Reads a signature: callers send wrapped ones, vendors send their own. */
export type SignatureReader = (signature: string) => ReasoningSignature;

/** Reads a signature sent by a caller. */
export const readCallerSignature: SignatureReader = (signature) => readSignature(signature, "messages");

/** Reads a signature sent by a vendor. */
export const readVendorSignature: SignatureReader = (signature) => ({
  form: "messages",
  issuer: null,
  value: signature,
});

/** The signature of a block, as a property to spread; empty when it has none. */
export function signatureField(signature: unknown, read: SignatureReader): { seal?: ReasoningSignature } {
  if (typeof signature !== "string" || signature === "" || signature === UNSIGNED) return {};
  return { seal: read(signature) };
}

/** The part that a signature in a block of its own belongs to: a call by its id, or the text before the block. */
export type SignatureOwner = { readonly kind: "call"; readonly callId: string } | { readonly kind: "text" };

/**
 * The value of a thinking block without text that holds the signature of a call or text, for which this format has no
 * field. The owner is encoded before the value, except for a signature of the content format right before its call.
 *
 * @param isBeforeCall True when the block is written right before its call.
 */
export function writeCarriedSignature(seal: ReasoningSignature, bearer: SignatureOwner, isBeforeCall: boolean): string {
  if (isBeforeCall && seal.form === "content") return writeSignature(seal, "messages");
  const prefix = bearer.kind === "text" ? "text." : `call.${bearer.callId.length}.${bearer.callId}`;
  return writeSignature({ ...seal, value: prefix + seal.value }, "messages");
}

/** The inverse of {@linkcode writeCarriedSignature}; the owner is null when the value has none. */
export function readCarriedSignature(
  seal: ReasoningSignature,
): { readonly seal: ReasoningSignature; readonly bearer: SignatureOwner | null } {
  if (seal.value.startsWith("text.")) {
    return { seal: { ...seal, value: seal.value.slice(5) }, bearer: { kind: "text" } };
  }
  const [prefix, length] = /^call\.(\d+)\./.exec(seal.value) ?? [];
  if (prefix === undefined) return { seal, bearer: null };
  const end = prefix.length + Number(length);
  const bearer: SignatureOwner = { kind: "call", callId: seal.value.slice(prefix.length, end) };
  return { seal: { ...seal, value: seal.value.slice(end) }, bearer };
}
