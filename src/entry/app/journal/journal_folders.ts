import { basename, dirname, join } from "node:path";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../../../platform/lib/process/private_path.ts";

/** The folder of a journal of charges, which no other process uses until it is closed or this process ends. */
export interface JournalUse extends Disposable {
  readonly path: string;
}

/** The most gateways with one folder of files. */
const MAX_JOURNALS = 64;

/**
 * Selects the folder of the journal for a gateway that may have others beside it, with the same folder of files: the
 * first one of `path`, `path-2`, `path-3` … that no other process uses. The locks are those of files beside the
 * folders, which the system releases at the end of a process.
 *
 * @throws {Error} If all are in use. The system's error if a lock cannot be written.
 */
export async function useJournalFolder(path: string): Promise<JournalUse> {
  await makePrivateFolder(dirname(path));
  for (let n = 1; n <= MAX_JOURNALS; n++) {
    const use = await tryUse(n === 1 ? path : `${path}-${n}`);
    if (use !== null) return use;
  }
  throw new Error(`${MAX_JOURNALS} gateways use it`);
}

/** Uses the existing folders of journals that no other process uses, one after another. */
export async function* unusedJournalFolders(path: string): AsyncGenerator<JournalUse> {
  const [folder, name] = [dirname(path), basename(path)];
  const isNotFound = (error: unknown) => error instanceof Deno.errors.NotFound;
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch((error) => {
    if (isNotFound(error)) return [];
    throw error;
  });
  const isJournal = (one: Deno.DirEntry) =>
    one.isDirectory && (one.name === name || (one.name.startsWith(`${name}-`) && /-\d+$/.test(one.name)));
  for (const entry of entries.filter(isJournal)) {
    const use = await tryUse(join(folder, entry.name));
    if (use === null) continue;
    try {
      yield use;
    } finally {
      use[Symbol.dispose]();
    }
  }
}

async function tryUse(path: string): Promise<JournalUse | null> {
  const file = await Deno.open(`${path}.lock`, { create: true, write: true, mode: PRIVATE_FILE_MODE });
  const isFree = await file.tryLock(true).catch((error) => {
    file.close();
    throw error;
  });
  if (isFree) return { path, [Symbol.dispose]: () => file.close() };
  file.close();
  return null;
}
