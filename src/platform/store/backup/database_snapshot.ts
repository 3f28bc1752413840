import { backup, DatabaseSync } from "node:sqlite";
import { PRIVATE_FILE_MODE } from "../../lib/process/private_path.ts";

const BUSY_MS = 30_000;
/** All pages in one step: the read transaction keeps the snapshot, and nobody waits for this process. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies an SQLite database that other processes may use, as it is at one instant. They go on writing, and their
 * write-ahead log grows until the copy is complete.
 *
 * @param to A new file, readable only by its owner.
 * @param onInstant Awaited once the instant is fixed. If it returns false, another instant is tried.
 */
export async function snapshotDatabase(
  from: string,
  to: string,
  onInstant: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  (await Deno.open(to, { write: true, createNew: true, mode: PRIVATE_FILE_MODE })).close();
  const source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_MS });
  try {
    // Ends at the first instant that the journal covers: it is missed only while a segment is removed.
    for (;;) {
      source.exec("BEGIN");
      source.prepare("SELECT count(*) FROM sqlite_master").get(); // the first read fixes the instant
      if (await onInstant()) break;
      source.exec("ROLLBACK");
    }
    await backup(source, to, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}
