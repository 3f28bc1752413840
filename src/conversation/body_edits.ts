import { editJson, type JsonEdit } from "../lib/json_edits.ts";
import { type JsonScan, scanJson } from "../lib/json.ts";
import { isIssuedBy, type ReasoningSignature, WRAPPED_SIGNATURE_PREFIX } from "./reasoning_signature.ts";

/**
 * The edits of a pass-through request whose history comes partly from other vendors. A vendor receives its own
 * signatures unchanged, and never another vendor's.
 */
export interface BodyEdits {
  /** Edits of the body, in no order. */
  readonly edits: readonly JsonEdit[];
  /** Neutral names of what is removed: `reasoning_signature`. */
  readonly droppedFields: readonly string[];
}

/** The start of a wrapped signature in a body. */
export const WRAPPED_SIGNATURE_MARK: string = `"${WRAPPED_SIGNATURE_PREFIX}`;

/** A body after edits, with its outline and what was removed. */
export interface EditedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly scan: JsonScan;
  readonly droppedFields: readonly string[];
}

/** Applies edits to a body. The body is returned as it is when there are none, which is the usual case. */
export function withEdits(
  { bytes, scan }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly scan: JsonScan },
  { edits, droppedFields }: BodyEdits,
): EditedBody {
  if (edits.length === 0) return { bytes, scan, droppedFields };
  const edited = editJson(bytes, edits);
  return { bytes: edited, scan: scanJson(edited), droppedFields };
}

/** No edits. */
export const NO_EDITS: BodyEdits = { edits: [], droppedFields: [] };

/** Edits of different parts of a body together. */
export function joinedEdits(first: BodyEdits, second: BodyEdits): BodyEdits {
  return {
    edits: [...first.edits, ...second.edits],
    droppedFields: [...first.droppedFields, ...second.droppedFields],
  };
}

/** True for the text of a signature that the gateway wrapped. */
export function isWrapped(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(WRAPPED_SIGNATURE_PREFIX);
}

/** Whether a signature that a caller sent may be passed to this provider, which speaks the same format. */
export function isOwnSignature(
  signature: ReasoningSignature,
  format: ReasoningSignature["format"],
  provider: string,
): boolean {
  return signature.value !== "" && isIssuedBy(signature, format, provider);
}
