import { journalFolderOf, replayJournal } from "../../app/journal/charge_journal.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { silentLog } from "../../../platform/lib/basics/log.ts";
import { makePrivateFolder } from "../../../platform/lib/process/private_path.ts";
import { snapshotDatabase } from "../../../platform/store/backup/database_snapshot.ts";
import { JournalCopy } from "../../../platform/store/backup/journal_copy.ts";
import { noteIncomplete } from "../../../platform/store/incomplete.ts";
import { lacksItsJournal, unmarkJournal } from "../../../platform/store/journal/journal_folder.ts";
import { clearInUse, lacksItsLog } from "../../../platform/store/kv/database_file.ts";
import { openKvStore } from "../../../platform/store/kv/open_kv_store.ts";
import { commandLog } from "./stopped_store.ts";

/** A copy of a store, as it was at one instant. */
export interface StoreSnapshot {
  /** The instant, in Unix milliseconds. */
  readonly createdAt: number;
  /** Whether the store itself lacked a part when it was opened, so that charges may be missing. */
  readonly isIncomplete: boolean;
}

/**
 * Copies a store that a gateway may use to a single file, with the charges of its journal in its ledger. The copy has
 * every charge and every commit from before its instant.
 *
 * @param path The real path of the store.
 * @param to A path in a folder of this command.
 */
export async function snapshotStore(path: string, to: string): Promise<StoreSnapshot> {
  const lacksLog = await lacksItsLog(path);
  const config = { store: `kv:${to}`, files: "" };
  const folder = await journalFolderOf({ store: `kv:${path}`, files: "" }) ?? "";
  const copiedJournal = await journalFolderOf(config) ?? "";
  await makePrivateFolder(copiedJournal);
  const journal = new JournalCopy(folder);
  let createdAt = 0;
  try {
    await journal.openSegments();
    await snapshotDatabase(path, to, async () => {
      createdAt = systemClock.now();
      return await journal.coversInstant();
    });
    await journal.writeTo(copiedJournal);
  } finally {
    journal.close();
  }
  clearInUse(to); // the copy is whole without a log
  const store = await openKvStore({ path: to, clock: systemClock, log: silentLog, mustExist: true });
  try {
    const lacksJournal = await lacksItsJournal(store, folder);
    if (lacksLog) await noteIncomplete(store, "write_ahead_log");
    if (lacksJournal) await noteIncomplete(store, "journal_of_charges");
    await replayJournal({ config, store, log: commandLog });
    await unmarkJournal(store);
    return { createdAt, isIncomplete: lacksLog || lacksJournal };
  } finally {
    await store.close();
  }
}
