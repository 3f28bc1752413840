import { readSignature, type ReasoningSignature, writeSignature } from "../../../neutral/reasoning_signature.ts";

/** The part that the `encrypted_content` of a reasoning item belongs to. */
export type SignatureOwner =
  | { readonly kind: "reasoning"; readonly redacted: boolean }
  | { readonly kind: "call"; readonly callId: string }
  | { readonly kind: "text" };

/** A signature and the part that it belongs to. */
export interface OwnedSignature {
  readonly signature: ReasoningSignature;
  readonly owner: SignatureOwner;
}

/**
 * Encodes a signature and its owner as `encrypted_content`, because this format has signatures only on reasoning items.
 * For signatures of other formats, the owner, and whether reasoning was redacted, precede the value. So they are known
 * again whatever a client does to the order and ids of items. A signature of this format is not changed.
 */
export function writeCarriedSignature({ signature, owner }: OwnedSignature): string {
  if (signature.format === "responses") return writeSignature(signature, "responses");
  return writeSignature({ ...signature, value: ownerPrefix(owner) + signature.value }, "responses");
}

function ownerPrefix(owner: SignatureOwner): string {
  switch (owner.kind) {
    case "reasoning":
      return owner.redacted ? "redacted." : "";
    case "call":
      return `call.${owner.callId.length}.${owner.callId}`;
    case "text":
      return "text.";
  }
}

/** The inverse of {@linkcode writeCarriedSignature}. */
export function readCarriedSignature(text: string): OwnedSignature {
  const signature = readSignature(text, "responses");
  if (signature.format === "responses") return { signature, owner: { kind: "reasoning", redacted: false } };
  const [prefix, length] = /^(?:redacted\.|text\.|call\.(\d+)\.)/.exec(signature.value) ?? ["", undefined];
  const value = signature.value.slice(prefix.length);
  if (length !== undefined) {
    const callId = value.slice(0, Number(length));
    return { signature: { ...signature, value: value.slice(callId.length) }, owner: { kind: "call", callId } };
  }
  if (prefix === "text.") return { signature: { ...signature, value }, owner: { kind: "text" } };
  return { signature: { ...signature, value }, owner: { kind: "reasoning", redacted: prefix !== "" } };
}
