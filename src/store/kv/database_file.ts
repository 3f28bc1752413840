import { DatabaseSync } from "node:sqlite";
import { PRIVATE_FILE_MODE } from "../../lib/private_path.ts";

/** A database file that must not be opened: it is no database, is cut short, or is of a newer Switchyard. */
export class StoreFileError extends Error {
  override readonly name = "StoreFileError";

  /**
   * @param path The database.
   * @param reason What is wrong with it.
   */
  constructor(readonly path: string, readonly reason: string, options?: ErrorOptions) {
    super(`Cannot open the store "${path}": ${reason}`, options);
  }
}

/** Files that a database consists of, by what follows its name; the lock is among them. */
export const DATABASE_FILE_SUFFIXES: readonly string[] = ["", "-wal", "-shm", "-journal", ".lock"];

/** A command wants a store that nobody has made yet. */
export class StoreMissingError extends Error {
  override readonly name = "StoreMissingError";

  /**
   * @param path The database's.
   * @param message Default: that there is none.
   */
  constructor(readonly path: string, message = `Cannot open the store "${path}": there is none`) {
    super(message);
  }
}

/**
 * Makes sure that there is a database to open. A file that is there is only looked at: SQLite would take an empty one
 * for a new database and find missing pages late. So that an empty file is always an accident, a new database is made
 * beside its place and moved there when it is whole.
 *
 * @param path Absolute; its folder exists and the caller holds its lock.
 * @throws {StoreFileError} If what is there is no whole database; it stays as it is.
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
// "SWYD", so that tools can tell whose file it is.
const APPLICATION_ID = 0x53575944;

// The database header's fields: SQLite "Database File Format", section 1.3.
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
  // Pages may still be in the log alone, so without reading it only a database without one can be called too short.
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
    Deno.removeSync(path); // the rest of a start that was killed
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  // SQLite takes an empty file for a new database, and gives its log the mode of the database.
  Deno.writeFileSync(path, new Uint8Array(), { createNew: true, mode: PRIVATE_FILE_MODE });
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  database.close();
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
