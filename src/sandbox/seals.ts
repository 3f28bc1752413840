import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { ReasoningSignature, WireFormatName } from "../conversation/reasoning_signature.ts";

const MARK = "sandbox-seal";

/**
 * A proof as a vendor issues it, base64 of `sandbox-seal:<form>:<what>:<check>`. It needs no memory: who gets it back
 * can tell that a sandbox issued it, in which form and for what, and that not a sign of it was changed.
 *
 * @param about What the proof stands for; for thinking, the text that was shown.
 */
export function issueSeal(form: WireFormatName, about: string): ReasoningSignature {
  const what = digest(about);
  const value = Buffer.from(`${MARK}:${form}:${what}:${digest(`${form} ${what}`)}`).toString("base64");
  return { form, issuer: null, value };
}

/** True when a sandbox issued this proof in that form, in either alphabet of base64. */
export function isIssued(form: WireFormatName, value: string): boolean {
  return whatOf(form, value) !== null;
}

/** True when a sandbox issued this proof in that form, for exactly that. */
export function isIssuedFor(form: WireFormatName, value: string, about: string): boolean {
  return whatOf(form, value) === digest(about);
}

function whatOf(form: WireFormatName, value: string): string | null {
  const [mark, , what = "", check] = Buffer.from(value, "base64").toString().split(":");
  return mark === MARK && check === digest(`${form} ${what}`) ? what : null;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
