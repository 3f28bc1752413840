import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  type BodyEdits,
  isOwnSignature,
  isWrapped,
  mayHaveWrapped,
  NO_EDITS,
} from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isObject, listOf, textOrNull } from "../../../neutral/wire_value.ts";
import { isLookedUp } from "../caller/looked_up_items.ts";
import { readCarriedSignature } from "../shared/carried_signature.ts";

/** The start of an item id. A body may refer to an item by id only, without the type of a reference. */
const ITEM_ID = /"(?:rs|msg|fc|ctc|ws)_/;
/** The longest start, with its quote. */
const MAX_ITEM_START = 5;
const QUOTE = 0x22;

/** Whether a text may have the id of an item. It has far fewer underscores than quotes. */
function mayNameItem(text: string): boolean {
  for (let at = text.indexOf("_"); at >= 0; at = text.indexOf("_", at + 1)) {
    const isNearQuote = text.charCodeAt(at - 3) === QUOTE || text.charCodeAt(at - 4) === QUOTE;
    if (isNearQuote && ITEM_ID.test(text.slice(Math.max(0, at + 1 - MAX_ITEM_START), at + 1))) return true;
  }
  return false;
}

/**
 * Edits a history for this provider. Its own signatures are unwrapped, items with signatures of others are removed, and
 * ids of items that the gateway issued for replies of other vendors are replaced by the items.
 * Source: Responses API reference, "encrypted_content", "Item reference".
 */
export function signatureEditsOf(
  { wholeBody, outlineText, provider, dropsReasoning, issuedItem: madeItem }: PassThroughRequest,
): BodyEdits {
  if (!dropsReasoning && !mayHaveWrapped(outlineText) && !mayNameItem(outlineText)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  listOf(wholeBody().input).forEach((item, index) => {
    if (!isObject(item)) return;
    const issued = isLookedUp(item) ? madeItem(textOrNull(item.id) ?? "") : null;
    // An issued item without content of its own (reasoning without a signature, a search) is removed.
    const own = dropsReasoning && (issued ?? item).type === "reasoning"
      ? null
      : issued === null
      ? ownItem(item, provider)
      : isLookedUp(issued)
      ? null
      : ownItem(withoutId(issued), provider);
    if (own !== item) edits.push({ path: ["input", index], value: own ?? undefined });
    if (own === null) {
      droppedFields.add((issued ?? item).type === "web_search_call" ? "web_search_call" : "reasoning_signature");
    }
  });
  return { edits, droppedFields: [...droppedFields] };
}

/**
 * Removes ids that the gateway issued, because no vendor knows them. Reasoning with a signature keeps the vendor's id.
 */
function withoutId(item: JsonObject): JsonObject {
  const { id: _made, ...others } = item;
  return item.type === "reasoning" ? item : others;
}

/** An item with its signature unwrapped; null when the signature belongs to another provider. */
function ownItem(item: JsonObject, provider: string): JsonObject | null {
  const { encrypted_content: value } = item;
  if (isWrapped(value)) {
    const { signature } = readCarriedSignature(value);
    return isOwnSignature(signature, "responses", provider) ? { ...item, encrypted_content: signature.value } : null;
  }
  return item;
}
