import { readSignature, type ReasoningSignature, writeSignature } from "../../../neutral/reasoning_signature.ts";

/**
 * The signature of a thinking block without one, because clients require the field. It is a wrapped signature with an
 * empty value, so that a body with it is found by the search for signatures of other vendors.
 */
export const UNSIGNED: string = writeSignature({ format: "chat", issuer: null, value: "" }, "messages");

/** Reads a signature: callers send wrapped ones, vendors send their own. */
export type SignatureReader = (signature: string) => ReasoningSignature;

/** Reads a signature sent by a caller. */
export const readCallerSignature: SignatureReader = (signature) => readSignature(signature, "messages");

/** Reads a signature sent by a vendor. */
export const readVendorSignature: SignatureReader = (signature) => ({
  format: "messages",
  issuer: null,
  value: signature,
});

/** The signature of a block, as a property to spread; empty when it has none. */
export function signatureField(signature: unknown, read: SignatureReader): { signature?: ReasoningSignature } {
  if (typeof signature !== "string" || signature === "" || signature === UNSIGNED) return {};
  return { signature: read(signature) };
}

/** The part that a signature in a block of its own belongs to: a call by its id, or the text before the block. */
export type SignatureOwner = { readonly kind: "call"; readonly callId: string } | { readonly kind: "text" };

/**
 * The value of a thinking block without text that holds the signature of a call or text, for which this format has no
 * field. The owner is encoded before the value, except for a signature of the content format right before its call.
 *
 * @param isBeforeCall True when the block is written right before its call.
 */
export function writeCarriedSignature(
  signature: ReasoningSignature,
  owner: SignatureOwner,
  isBeforeCall: boolean,
): string {
  if (isBeforeCall && signature.format === "content") return writeSignature(signature, "messages");
  const prefix = owner.kind === "text" ? "text." : `call.${owner.callId.length}.${owner.callId}`;
  return writeSignature({ ...signature, value: prefix + signature.value }, "messages");
}

/** The inverse of {@linkcode writeCarriedSignature}; the owner is null when the value has none. */
export function readCarriedSignature(
  signature: ReasoningSignature,
): { readonly signature: ReasoningSignature; readonly owner: SignatureOwner | null } {
  if (signature.value.startsWith("text.")) {
    return { signature: { ...signature, value: signature.value.slice(5) }, owner: { kind: "text" } };
  }
  const [prefix, length] = /^call\.(\d+)\./.exec(signature.value) ?? [];
  if (prefix === undefined) return { signature, owner: null };
  const end = prefix.length + Number(length);
  const owner: SignatureOwner = { kind: "call", callId: signature.value.slice(prefix.length, end) };
  return { signature: { ...signature, value: signature.value.slice(end) }, owner };
}
