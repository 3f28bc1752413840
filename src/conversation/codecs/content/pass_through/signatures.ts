import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import { hasQuoted } from "../../../../platform/lib/text/word_search.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  type BodyEdits,
  isOwnSignature,
  isWrapped,
  mayHaveWrapped,
  NO_EDITS,
} from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isAbsent, isObject, listOf } from "../../../neutral/wire_value.ts";
import { PLACEHOLDER_SIGNATURE, readPartSignature, reasoningOf } from "../shared/signatures.ts";

const SPELLINGS = ["thoughtSignature", "thought_signature"] as const;
const CALL_WORDS = ['functionCall"', 'function_call"'];

/**
 * Edits a history with wrapped signatures for this provider. The provider's own signatures are unwrapped; those of
 * others are removed. The vendor requires a signature on the first call of a step, also for a call made by another
 * vendor; such a call gets the documented placeholder.
 * Source: Gemini API reference, "Thought signatures".
 */
export function signatureEditsOf({ wholeBody, outlineText, provider, quirks }: PassThroughRequest): BodyEdits {
  if (!mayHaveWrapped(outlineText) && !CALL_WORDS.some((word) => hasQuoted(outlineText, word))) return NO_EDITS;
  const body = wholeBody();
  const needsPlaceholder = !quirks.has("no_signature_placeholder");
  const edits: JsonEdit[] = [];
  let isLost = false;
  listOf(body.contents).forEach((content, index) => {
    const parts = isObject(content) ? listOf(content.parts) : [];
    let calls = 0;
    let kept = 0;
    parts.forEach((part, position) => {
      if (!isObject(part)) return void kept++;
      const isCall = !isAbsent(part.functionCall ?? part.function_call);
      const isFirstCall = isCall && calls++ === 0;
      const key = SPELLINGS.find((spelling) => isWrapped(part[spelling]));
      const signature = key === undefined ? null : readPartSignature(part);
      const path = ["contents", index, "parts", position];
      if (isFirstCall && needsPlaceholder && SPELLINGS.every((spelling) => isAbsent(part[spelling]))) {
        edits.push({ path, value: { ...part, [SPELLINGS[0]]: PLACEHOLDER_SIGNATURE } });
      }
      if (key === undefined || signature === null) return void kept++;
      if (isOwnSignature(signature, "content", provider)) {
        edits.push({ path: [...path, key], value: signature.value });
        return void kept++;
      }
      isLost = true;
      if (isFirstCall && needsPlaceholder) edits.push({ path: [...path, key], value: PLACEHOLDER_SIGNATURE });
      else edits.push({ path: hasContent(part) ? [...path, key] : path, value: undefined });
      // A content with only unsigned reasoning counts as empty.
      if (hasContent(part) && part.thought !== true) kept++;
    });
    if (kept === 0 && parts.length > 0) edits.push({ path: ["contents", index], value: undefined });
  });
  return { edits, droppedFields: isLost ? ["reasoning_signature"] : [] };
}

/** Whether a part has content apart from its signature. */
function hasContent(part: JsonObject): boolean {
  if (typeof part.text !== "string") return true;
  if (part.text === "") return false;
  return part.thought !== true || !reasoningOf(part.text, readPartSignature(part)).redacted;
}
