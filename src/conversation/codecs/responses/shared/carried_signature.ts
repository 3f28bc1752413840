import { readSignature, type ReasoningSignature, writeSignature } from "../../../reasoning_signature.ts";

/** The part that the `encrypted_content` of a reasoning item belongs to. */
export type SignatureOwner =
  | { readonly kind: "reasoning"; readonly redacted: boolean }
  | { readonly kind: "call"; readonly callId: string }
  | { readonly kind: "text" };

/** A signature and the part that it belongs to. */
export interface OwnedSignature {
  readonly seal: ReasoningSignature;
  readonly owner: SignatureOwner;
}

/**
 * Encodes a signature and its owner as `encrypted_content`, because this format has signatures only on reasoning items.
 * For signatures of other formats, the owner, and whether reasoning was redacted, precede the value. So they are known
 * again whatever a client does to the order and ids of items. A signature of this format is not changed.
 */
export function writeCarriedSignature({ seal, owner: bearer }: OwnedSignature): string {
  if (seal.form === "responses") return writeSignature(seal, "responses");
  return writeSignature({ ...seal, value: ownerPrefix(bearer) + seal.value }, "responses");
}

function ownerPrefix(bearer: SignatureOwner): string {
  switch (bearer.kind) {
    case "reasoning":
      return bearer.redacted ? "redacted." : "";
    case "call":
      return `call.${bearer.callId.length}.${bearer.callId}`;
    case "text":
      return "text.";
  }
}

/** The inverse of {@linkcode writeCarriedSignature}. */
export function readCarriedSignature(text: string): OwnedSignature {
  const seal = readSignature(text, "responses");
  if (seal.form === "responses") return { seal, owner: { kind: "reasoning", redacted: false } };
  const [prefix, length] = /^(?:redacted\.|text\.|call\.(\d+)\.)/.exec(seal.value) ?? ["", undefined];
  const value = seal.value.slice(prefix.length);
  if (length !== undefined) {
    const callId = value.slice(0, Number(length));
    return { seal: { ...seal, value: value.slice(callId.length) }, owner: { kind: "call", callId } };
  }
  if (prefix === "text.") return { seal: { ...seal, value }, owner: { kind: "text" } };
  return { seal: { ...seal, value }, owner: { kind: "reasoning", redacted: prefix !== "" } };
}
