import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { ReasoningSignature, WireFormatName } from "../conversation/neutral/reasoning_signature.ts";

const MARK = "sandbox-seal";

/**
 * Creates a signature as a vendor does: base64 of `sandbox-seal:<form>:<what>:<check>`. No state is needed to check
 * that a sandbox issued it, in which format and for what, and that it is unchanged.
 *
 * @param about What the signature covers. For reasoning, the text that was shown.
 */
export function issueSignature(form: WireFormatName, about: string): ReasoningSignature {
  const what = digest(about);
  const value = Buffer.from(`${MARK}:${form}:${what}:${digest(`${form} ${what}`)}`).toString("base64");
  return { format: form, issuer: null, value };
}

/** Whether a sandbox issued this signature in that format, in either alphabet of base64. */
export function isIssued(form: WireFormatName, value: string): boolean {
  return whatOf(form, value) !== null;
}

/** Whether a sandbox issued this signature in that format, for exactly that text. */
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
