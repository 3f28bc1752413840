import { DatabaseSync } from "node:sqlite";
import { PRIVATE_FILE_MODE } from "../../lib/process/private_path.ts";

/** A database file that cannot be opened: it is not a database, is truncated, or was written by a newer version. */
export class StoreFileError extends Error {
  override readonly name = "StoreFileError";

  /**
   * @param path The path of the database.
   * @param reason The cause, as part of a sentence.
   */
  constructor(readonly path: string, readonly reason: string, options?: ErrorOptions) {
    super(`Cannot open the store "${path}": ${reason}`, options);
  }
}

/** The suffixes of all files of a database, the lock included. */
export const DATABASE_FILE_SUFFIXES: readonly string[] = ["", "-wal", "-shm", "-journal", ".lock"];

/** A command needs a store that does not exist. */
export class StoreMissingError extends Error {
  override readonly name = "StoreMissingError";

  /**
   * @param path The path of the database.
   * @param message Default: that the store does not exist.
   */
  constructor(readonly path: string, message = `Cannot open the store "${path}": there is none`) {
    super(message);
  }
}

/**
 * Creates the database file if there is none, or checks the existing one. The check matters because SQLite treats an
 * empty file as a new database and finds missing pages late. A new database is created beside its path and then
 * renamed, so an empty file is always an error.
 *
 * @param path Absolute. Its folder exists, and the caller holds its lock.
 * @throws {StoreFileError} If the file is not a whole database. The file is not changed.
 */
export async function prepareDatabaseFile(path: string): Promise<void> {
  const logBytes = await sizeOf(`${path}-wal`) ?? 0;
  const bytes = await sizeOf(path);
  if (bytes !== null) return await checkHeader(path, bytes, logBytes);
  if (logBytes > 0) throw new StoreFileError(path, "the file is missing, but its write-ahead log is there");
  createDatabase(`${path}.new`);
  await Deno.rename(`${path}.new`, path);
}

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
// "SWYD": identifies the owner of the file to other tools.
const APPLICATION_ID = 0x53575944;

// Fields of the database header: SQLite "Database File Format", section 1.3.
async function checkHeader(path: string, bytes: number, logBytes: number): Promise<void> {
  if (bytes === 0) throw new StoreFileError(path, "the file is empty");
  const header = await readHeader(path);
  if (new TextDecoder("latin1").decode(header.subarray(0, 16)) !== MAGIC) {
    throw new StoreFileError(path, "the file is not a database");
  }
  if (header.length < HEADER_BYTES) throw new StoreFileError(path, `the file is cut short: it has ${bytes} bytes`);
  const view = new DataView(header.buffer, header.byteOffset);
  const pageBytes = view.getUint16(16) === 1 ? 65_536 : view.getUint16(16);
  const pages = view.getUint32(28);
  const isPageCountValid = view.getUint32(24) === view.getUint32(92);
  // Pages may exist only in the write-ahead log, so only a database without a log is known to be too short.
  if (logBytes === 0 && isPageCountValid && bytes < pages * pageBytes) {
    throw new StoreFileError(path, `the file is cut short: it has ${bytes} of ${pages * pageBytes} bytes`);
  }
}

async function readHeader(path: string): Promise<Uint8Array> {
  using file = await Deno.open(path, { read: true });
  const header = new Uint8Array(HEADER_BYTES);
  let filled = 0;
  while (filled < HEADER_BYTES) {
    const read = await file.read(header.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return header.subarray(0, filled);
}

function createDatabase(path: string): void {
  try {
    Deno.removeSync(path); // left by a start that was killed
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  // SQLite accepts an empty file as a new database, and gives its log the file mode of the database.
  Deno.writeFileSync(path, new Uint8Array(), { createNew: true, mode: PRIVATE_FILE_MODE });
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  database.close();
}

/**
 * The mark of a database that is in use, in the header of its file. While a process uses a database, its newest commits
 * are in the write-ahead log beside the file, and the file alone is a valid database without them. A file with the mark
 * and without a log is therefore a copy that lacks commits.
 *
 * The mark is `user_version` (SQLite "Database File Format", section 1.3, offset 60), which Deno KV does not use.
 */
const MARK_OFFSET = 60;
const IN_USE = 1;

/** Whether a file was copied while a process used it, without its write-ahead log. False for a missing file. */
export async function lacksItsLog(path: string): Promise<boolean> {
  if ((await sizeOf(`${path}-wal`) ?? 0) > 0) return false;
  const header = await readHeader(path).catch(() => new Uint8Array()); // a missing file lacks nothing
  return header.length === HEADER_BYTES &&
    new DataView(header.buffer, header.byteOffset).getUint32(MARK_OFFSET) === IN_USE;
}

/**
 * Whether the last process that changed a database closed it: it emptied the lock file after that. A version that
 * refuses a database with a mark closes it so, and its write-ahead log is then in the file. A file that was copied to
 * the place changed later than the lock file.
 */
export async function isClosedByItsUser(path: string): Promise<boolean> {
  try {
    const [database, lock] = await Promise.all([Deno.stat(path), Deno.stat(`${path}.lock`)]);
    const [changedAt, releasedAt] = [database.ctime, lock.ctime];
    return lock.size === 0 && changedAt !== null && releasedAt !== null && releasedAt >= changedAt;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Marks an open database as in use. Its log exists already, so that no kill leaves a mark without a log. */
export function markInUse(path: string): void {
  // Without the checkpoint the mark would be in the log only.
  writeMark(path, `PRAGMA user_version = ${IN_USE}; PRAGMA wal_checkpoint(PASSIVE)`);
}

/** Removes the mark. What is in the log then is written to the file when the last user closes the database. */
export function clearInUse(path: string): void {
  writeMark(path, "PRAGMA user_version = 0");
}

/** The mark only helps to find bad copies. A disk that takes no writes is reported by the first commit. */
function writeMark(path: string, sql: string): void {
  try {
    const database = new DatabaseSync(path);
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  } catch { /* the mark stays as it was */ }
}

/**
 * Returns a function that tells whether a path still has the file that it has now. A system that does not number files,
 * such as Windows, removes no open file.
 */
export function placeWatch(path: string): () => boolean {
  const opened = numberOf(path);
  return () => {
    try {
      return numberOf(path) === opened;
    } catch {
      return true; // what cannot be looked at is not known to be gone
    }
  };
}

/** The number of a file on its disk; null for none. */
function numberOf(path: string): string | null {
  try {
    const { dev, ino } = Deno.statSync(path);
    return ino === null ? "" : `${dev} ${ino}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) throw new StoreFileError(path, "it is not a file");
    return size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
