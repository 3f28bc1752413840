import { readSeal, type Seal, writeSeal } from "../../../seal.ts";

/**
 * What stands for the signature of a thinking block that has none, as clients want the field. It is a wrapped seal
 * without a value, so that a body which brings it back is found by the same search as one with foreign seals.
 */
export const UNSIGNED: string = writeSeal({ form: "chat", issuer: null, value: "" }, "messages");

/** How the seal of a signature is told: callers bring back wrapped ones, a vendor's own are taken as they are. */
export type SealReading = (signature: string) => Seal;

/** As a caller brings it back. */
export const callerSeal: SealReading = (signature) => readSeal(signature, "messages");

/** As a vendor gives it. */
export const vendorSeal: SealReading = (signature) => ({ form: "messages", issuer: null, value: signature });

/** The seal of a block as a property to spread; nothing where it has none. */
export function sealOf(signature: unknown, read: SealReading): { seal?: Seal } {
  if (typeof signature !== "string" || signature === "" || signature === UNSIGNED) return {};
  return { seal: read(signature) };
}

/** What a seal on a block of its own belongs to: a call of the turn by its id, or the text right before. */
export type Bearer = { readonly kind: "call"; readonly callId: string } | { readonly kind: "text" };

/**
 * The signature of a thinking block without text that carries the seal of a call or text, which this form has no place
 * for. Who bears it stands before the seal's value; a seal of the content form right before its call needs no such
 * word.
 *
 * @param isBeforeCall True when the block stands right before its call.
 */
export function writeCarriedSeal(seal: Seal, bearer: Bearer, isBeforeCall: boolean): string {
  if (isBeforeCall && seal.form === "content") return writeSeal(seal, "messages");
  const mark = bearer.kind === "text" ? "text." : `call.${bearer.callId.length}.${bearer.callId}`;
  return writeSeal({ ...seal, value: mark + seal.value }, "messages");
}

/** A seal without the word for its bearer, and that bearer; null when it has none. */
export function readCarriedSeal(seal: Seal): { readonly seal: Seal; readonly bearer: Bearer | null } {
  if (seal.value.startsWith("text.")) {
    return { seal: { ...seal, value: seal.value.slice(5) }, bearer: { kind: "text" } };
  }
  const [mark, length] = /^call\.(\d+)\./.exec(seal.value) ?? [];
  if (mark === undefined) return { seal, bearer: null };
  const end = mark.length + Number(length);
  const bearer: Bearer = { kind: "call", callId: seal.value.slice(mark.length, end) };
  return { seal: { ...seal, value: seal.value.slice(end) }, bearer };
}
