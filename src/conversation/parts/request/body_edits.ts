import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import { editJson, type JsonEdit } from "../../../platform/lib/json/json_edits.ts";
import { type Cut, withCuts } from "../../../platform/lib/json/json_cuts.ts";
import { type JsonScan, scanJson } from "../../../platform/lib/json/json.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { halfCharacterCuts } from "../../../platform/lib/json/well_formed_json.ts";
import { hasQuoted } from "../../../platform/lib/text/word_search.ts";
import { isIssuedBy, type ReasoningSignature, WRAPPED_SIGNATURE_PREFIX } from "../../neutral/reasoning_signature.ts";
import { objectOf } from "../../neutral/wire_value.ts";
import { parseWithExactValues } from "../../neutral/exact_values.ts";

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

/** Whether the JSON text of a body has the start of a wrapped signature. */
export function mayHaveWrapped(outlineText: string): boolean {
  return hasQuoted(outlineText, WRAPPED_SIGNATURE_PREFIX);
}

/** A body after edits, with its outline and what was removed. */
export interface EditedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly scan: JsonScan;
  readonly droppedFields: readonly string[];
}

/** A body with its outline. */
type ScannedBody = Pick<EditedBody, "bytes" | "scan">;

/**
 * Applies edits to a body, and replaces halves of characters in its definitions of tools and formats. The body is
 * returned as it is when there is nothing to change, which is the usual case.
 */
export function withEdits(body: ScannedBody, { edits, droppedFields }: BodyEdits): EditedBody {
  const { bytes, scan } = withWholeCharacters(edits.length === 0 ? body : scanned(editJson(body.bytes, edits)));
  return { bytes, scan, droppedFields };
}

function scanned(bytes: Uint8Array<ArrayBuffer>): ScannedBody {
  return { bytes, scan: scanJson(bytes) };
}

/** Members in which programs cut descriptions to a length, possibly within an emoji. Strict parsers refuse the rest. */
const DEFINITIONS = [
  "tools",
  "functions",
  "response_format",
  "text",
  "output_config",
  "generationConfig",
  "generation_config",
];

function withWholeCharacters(body: ScannedBody): ScannedBody {
  const { bytes, scan } = body;
  let cuts: Cut[] | null = null;
  for (const { key, valueStart, valueEnd } of scan.members) {
    if (!DEFINITIONS.includes(key)) continue;
    const found = halfCharacterCuts(bytes, valueStart, valueEnd);
    if (found.length > 0) appendAll(cuts ??= [], found);
  }
  return cuts === null ? body : scanned(withCuts(bytes, cuts).joined());
}

/** No edits. */
export const NO_EDITS: BodyEdits = { edits: [], droppedFields: [] };

/** The value of a request's body after edits, which is parsed only if it is asked for. */
export function editedValue(
  { bytes: original, wholeBody }: { readonly bytes: Uint8Array; readonly wholeBody: () => JsonObject },
  bytes: Uint8Array,
): JsonObject {
  return bytes === original ? wholeBody() : objectOf(parseWithExactValues(new TextDecoder().decode(bytes))) ?? {};
}

/** Edits of different parts of a body together. */
export function joinedEdits(first: BodyEdits, second: BodyEdits): BodyEdits {
  if (second.edits.length === 0 && second.droppedFields.length === 0) return first;
  if (first.edits.length === 0 && first.droppedFields.length === 0) return second;
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
