import type { JsonEdit } from "../../../../lib/json_edits.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { isOwnSeal, isWrapped, NO_EDITS, type SealEdits, WRAPPED_SEAL_MARK } from "../../../foreign_seals.ts";
import type { PassedRequest } from "../../../pass_through.ts";
import { isObject, listOf, textOrNull } from "../../../wire_value.ts";
import { isLookedUp } from "../caller/looked_up_items.ts";
import { readCarriedSeal } from "../shared/carried_seal.ts";

/** Begins the ids of items, which a body may name alone: the type of a reference may be left out. */
const ITEM_ID = /"(?:rs|msg|fc|ctc|ws)_/;

/**
 * The edits by which a history becomes one of this provider's: its own proofs are unwrapped, items that carry another's
 * are left out, and the items that the gateway made for other vendors' replies stand where the body has their ids
 * alone. Source: Responses API reference, "encrypted_content", "Item reference".
 */
export function sealEditsOf({ body, latin1, provider, madeItem }: PassedRequest): SealEdits {
  if (!latin1.includes(WRAPPED_SEAL_MARK) && !ITEM_ID.test(latin1)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const losses = new Set<string>();
  listOf(body.input).forEach((item, index) => {
    if (!isObject(item)) return;
    const made = isLookedUp(item) ? madeItem(textOrNull(item.id) ?? "") : null;
    // Of what the gateway made, an item that says nothing itself (thoughts without a proof, a search) is of no use
    // here.
    const own = made === null ? ownItem(item, provider) : isLookedUp(made) ? null : ownItem(withoutId(made), provider);
    if (own !== item) edits.push({ path: ["input", index], value: own ?? undefined });
    if (own === null) losses.add((made ?? item).type === "web_search_call" ? "web_search_call" : "reasoning_signature");
  });
  return { edits, losses: [...losses] };
}

/** No vendor knows the ids that the gateway made; thoughts with a proof are this vendor's own. */
function withoutId(item: JsonObject): JsonObject {
  const { id: _made, ...others } = item;
  return item.type === "reasoning" ? item : others;
}

/** An item as this provider may see it; null where nothing of it is left. */
function ownItem(item: JsonObject, provider: string): JsonObject | null {
  const { encrypted_content: proof } = item;
  if (isWrapped(proof)) {
    const { seal } = readCarriedSeal(proof);
    return isOwnSeal(seal, "responses", provider) ? { ...item, encrypted_content: seal.value } : null;
  }
  return item;
}
