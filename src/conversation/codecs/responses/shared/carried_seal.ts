import { readSeal, type Seal, writeSeal } from "../../../seal.ts";

/** The part that the `encrypted_content` of a reasoning item belongs to. */
export type SealBearer =
  | { readonly kind: "reasoning"; readonly redacted: boolean }
  | { readonly kind: "call"; readonly callId: string }
  | { readonly kind: "text" };

/** A signature and the part that it belongs to. */
export interface CarriedSeal {
  readonly seal: Seal;
  readonly bearer: SealBearer;
}

/**
 * Encodes a signature and its owner as `encrypted_content`, because this format has signatures only on reasoning items.
 * For signatures of other formats, the owner, and whether reasoning was redacted, precede the value. So they are known
 * again whatever a client does to the order and ids of items. A signature of this format is not changed.
 */
export function writeCarriedSeal({ seal, bearer }: CarriedSeal): string {
  if (seal.form === "responses") return writeSeal(seal, "responses");
  return writeSeal({ ...seal, value: ownerPrefix(bearer) + seal.value }, "responses");
}

function ownerPrefix(bearer: SealBearer): string {
  switch (bearer.kind) {
    case "reasoning":
      return bearer.redacted ? "redacted." : "";
    case "call":
      return `call.${bearer.callId.length}.${bearer.callId}`;
    case "text":
      return "text.";
  }
}

/** The inverse of {@linkcode writeCarriedSeal}. */
export function readCarriedSeal(text: string): CarriedSeal {
  const seal = readSeal(text, "responses");
  if (seal.form === "responses") return { seal, bearer: { kind: "reasoning", redacted: false } };
  const [prefix, length] = /^(?:redacted\.|text\.|call\.(\d+)\.)/.exec(seal.value) ?? ["", undefined];
  const value = seal.value.slice(prefix.length);
  if (length !== undefined) {
    const callId = value.slice(0, Number(length));
    return { seal: { ...seal, value: value.slice(callId.length) }, bearer: { kind: "call", callId } };
  }
  if (prefix === "text.") return { seal: { ...seal, value }, bearer: { kind: "text" } };
  return { seal: { ...seal, value }, bearer: { kind: "reasoning", redacted: prefix !== "" } };
}
