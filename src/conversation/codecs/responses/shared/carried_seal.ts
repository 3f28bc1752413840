import { readSeal, type Seal, writeSeal } from "../../../seal.ts";

/** Whose proof the `encrypted_content` of a reasoning item is. */
export type SealBearer =
  | { readonly kind: "reasoning"; readonly redacted: boolean }
  | { readonly kind: "call"; readonly callId: string }
  | { readonly kind: "text" };

/** A proof and what it belongs to. */
export interface CarriedSeal {
  readonly seal: Seal;
  readonly bearer: SealBearer;
}

/**
 * This form has a place for a proof on reasoning items only. Proofs that other forms put on calls and text, and the
 * word that the reasoning was hidden, travel in `encrypted_content` before the proof itself, so that they come home
 * whatever a client does to the order or the ids of items. A proof of this form is left as it is.
 */
export function writeCarriedSeal({ seal, bearer }: CarriedSeal): string {
  if (seal.form === "responses") return writeSeal(seal, "responses");
  return writeSeal({ ...seal, value: markOf(bearer) + seal.value }, "responses");
}

function markOf(bearer: SealBearer): string {
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
  const [mark, length] = /^(?:redacted\.|text\.|call\.(\d+)\.)/.exec(seal.value) ?? ["", undefined];
  const value = seal.value.slice(mark.length);
  if (length !== undefined) {
    const callId = value.slice(0, Number(length));
    return { seal: { ...seal, value: value.slice(callId.length) }, bearer: { kind: "call", callId } };
  }
  if (mark === "text.") return { seal: { ...seal, value }, bearer: { kind: "text" } };
  return { seal: { ...seal, value }, bearer: { kind: "reasoning", redacted: mark !== "" } };
}
