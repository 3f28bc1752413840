import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { nearestWord } from "../../../platform/lib/text/nearest_word.ts";
import type { Store } from "../../../platform/store/store.ts";
import { type AccountRecord, ACCOUNTS } from "./records.ts";

/** The accounts that are compared with a name. The error is only for operators, so that a search costs little. */
const MAX_COMPARED = 1_000;
const MAX_SHOWN_CHARACTERS = 100;

/** The error for an operator that names an account that does not exist, with the account that was probably meant. */
export async function missingAccount(store: Store, id: string): Promise<GatewayError> {
  const entries = await store.scan<AccountRecord>(ACCOUNTS, { limit: MAX_COMPARED });
  const nearest = nearestWord(id, entries.map(({ value }) => value.id));
  const meant = nearest === null ? "" : `; did you mean "${nearest}"?`;
  const shown = JSON.stringify(id.slice(0, MAX_SHOWN_CHARACTERS));
  return new GatewayError("not_found", `Cannot find the account ${shown}: no such account${meant}`);
}
