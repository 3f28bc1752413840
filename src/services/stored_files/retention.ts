import type { FileStore } from "../../platform/files/files.ts";
import { forEachConcurrent } from "../../platform/lib/collections/for_each_concurrent.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { Store } from "../../platform/store/store.ts";
import { endedIds, idsOfAccount, readFileRecord, readUpload, removeFile, removeUpload } from "./records.ts";
import { contentNameOf, isFileId, partNameOf } from "./stored_file.ts";

/** The number of records that one step examines. */
const BATCH = 100;
/** Number of concurrent removals, which leaves capacity for requests. */
const AT_ONCE = 8;

/** The parts that removals use. */
export interface RemovalParts {
  readonly store: Store;
  readonly files: FileStore;
  readonly log: Log;
}

/** Returns a step that removes files and uploads at their end. It resolves to whether there may be more to remove. */
export function storedFileSweep(parts: RemovalParts): () => Promise<boolean> {
  const { store, log } = parts;
  return async () => {
    const ids = await endedIds(store, store.now(), BATCH);
    await forEachConcurrent(ids, AT_ONCE, async (id) => {
      if (await removeStored(parts, id)) log.info("stored_file_expired", { ref: id });
    });
    return ids.length === BATCH;
  };
}

/** Removes all files and uploads of an account. Returns the number of contents. A repeat continues. */
export async function eraseStoredFiles(parts: Omit<RemovalParts, "log">, account: string): Promise<number> {
  let removed = 0;
  // Ends when a step removes nothing.
  for (;;) {
    const before = removed;
    const ids = await idsOfAccount(parts.store, account, BATCH);
    await forEachConcurrent(ids, AT_ONCE, async (id) => {
      if (await removeStored(parts, id)) removed++;
    });
    if (removed === before) return removed;
  }
}

/** The content goes first: a record without a content is found again, and a content without a record is not. */
async function removeStored({ store, files }: Omit<RemovalParts, "log">, id: string): Promise<boolean> {
  if (isFileId(id)) {
    const entry = await readFileRecord(store, id);
    if (entry === null) return false;
    await files.remove(contentNameOf(id));
    return (await store.commit(null, removeFile(entry))).ok;
  }
  const entry = await readUpload(store, id);
  if (entry === null) return false;
  for (const part of entry.value.parts) await files.remove(partNameOf(id, part.id));
  return (await store.commit(null, removeUpload(entry))).ok;
}
