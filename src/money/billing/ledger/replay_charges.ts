import type { JournalContents } from "../../../platform/store/journal/journal_folder.ts";
import type { CommitResult, Store } from "../../../platform/store/store.ts";
import { addWrittenCharge, readWrittenRow } from "./charge.ts";
import { isAccountId } from "../accounts/account_id.ts";
import { ChargeGroup } from "./charge_group.ts";

/** The result of a replay. */
export interface ReplayedCharges {
  /** Groups of charges that the ledger did not have. */
  readonly written: number;
  /** Groups that the ledger had already. */
  readonly present: number;
  /** Records that are no charges, and charges that the ledger refuses for good. */
  readonly unusable: number;
}

const RECORD = /^(charge_\w+) (\S+) (.+)$/s;
/** Groups whose commits share a write of the store. */
const GROUPS_AT_ONCE = 32;

/**
 * Writes the charges of a journal to the ledger, each group under the reference that it had when it was journaled. A
 * group that the ledger has is refused by the store, so a replay can be repeated.
 *
 * @throws {StoreWriteError} If the store takes no writes. The journal is needed again then.
 */
export async function replayCharges(store: Store, texts: JournalContents["texts"]): Promise<ReplayedCharges> {
  const { groups, unreadable } = groupsIn(texts);
  const result = { written: 0, present: 0, unusable: unreadable };
  for (let at = 0; at < groups.length; at += GROUPS_AT_ONCE) {
    const results = await Promise.all(groups.slice(at, at + GROUPS_AT_ONCE).map((group) => commit(store, group)));
    for (const each of results) result[each]++;
  }
  return result;
}

function groupsIn(texts: JournalContents["texts"]): { groups: ChargeGroup[]; unreadable: number } {
  const groups = new Map<string, ChargeGroup>();
  let unreadable = 0;
  for (const text of texts) {
    const record = readRecord(text);
    if (record === null) {
      unreadable++;
      continue;
    }
    const { reference, account, row, amount } = record;
    let group = groups.get(reference);
    if (!group) groups.set(reference, group = new ChargeGroup(account, reference));
    group.add(row, amount);
  }
  return { groups: [...groups.values()], unreadable };
}

function readRecord(text: string): { reference: string; account: string; row: string; amount: bigint } | null {
  const [, reference = "", account = "", row = ""] = RECORD.exec(text) ?? [];
  try {
    return isAccountId(account) ? { reference, account, row, amount: readWrittenRow(row).amount } : null;
  } catch {
    return null;
  }
}

async function commit(store: Store, group: ChargeGroup): Promise<keyof ReplayedCharges> {
  let result: CommitResult;
  try {
    result = await store.commit(null, addWrittenCharge({}, group));
  } catch (error) {
    if (error instanceof RangeError) return "unusable"; // it can never be written
    throw error;
  }
  if (result.ok) return "written";
  return result.why === "duplicate" ? "present" : "unusable";
}
