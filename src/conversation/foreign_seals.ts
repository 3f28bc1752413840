import { editJson, type JsonEdit } from "../lib/json_edits.ts";
import { type JsonScan, scanJson } from "../lib/json.ts";
import { type Seal, WRAPPED_SEAL_PREFIX } from "./seal.ts";

/**
 * What a request that passes must have changed because its history was begun elsewhere. A vendor gets its own proofs as
 * it gave them, and never another vendor's.
 */
export interface SealEdits {
  /** For the body, in no order. */
  readonly edits: readonly JsonEdit[];
  /** Neutral names of what is left out: `reasoning_signature`. */
  readonly losses: readonly string[];
}

/** How a wrapped seal begins in a body. */
export const WRAPPED_SEAL_MARK: string = `"${WRAPPED_SEAL_PREFIX}`;

/** A body with its outline, and what was left out of it. */
export interface EditedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly scan: JsonScan;
  readonly losses: readonly string[];
}

/** A body as a vendor may see it: itself where nothing must be changed, as almost always. */
export function withEdits(
  { bytes, scan }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly scan: JsonScan },
  { edits, losses }: SealEdits,
): EditedBody {
  if (edits.length === 0) return { bytes, scan, losses };
  const edited = editJson(bytes, edits);
  return { bytes: edited, scan: scanJson(edited), losses };
}

/** No edits. */
export const NO_EDITS: SealEdits = { edits: [], losses: [] };

/** True for the text of a seal that the gateway wrapped. */
export function isWrapped(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(WRAPPED_SEAL_PREFIX);
}

/** Whether a seal, read from a caller's body, is for a vendor of the same format to see. */
export function isOwnSeal(seal: Seal, form: Seal["form"], provider: string): boolean {
  return seal.form === form && seal.value !== "" && (seal.issuer === null || seal.issuer === provider);
}
