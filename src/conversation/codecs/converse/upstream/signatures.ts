import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";

/** A signature as the vendor sent it, also of redacted reasoning. */
export function signatureOf(value: string): ReasoningSignature {
  return { format: "converse", issuer: null, value };
}
