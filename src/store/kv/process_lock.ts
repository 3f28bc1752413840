import { PRIVATE_FILE_MODE } from "../../lib/private_path.ts";

/** A second process wants a store that is in use. */
export class StoreInUseError extends Error {
  override readonly name = "StoreInUseError";

  /**
   * @param path The database.
   * @param holder The process id of the one that has it; null when it left no word.
   */
  constructor(readonly path: string, readonly holder: number | null) {
    super(
      `Cannot open the store "${path}": it is in use by ${holder === null ? "another process" : `process ${holder}`}`,
    );
  }
}

/** Who has a store, as far as its lock tells. */
export interface StoreHolder {
  /** Its process id; null while it has left none. */
  readonly pid: number | null;
  /** Where its gateway is reached; null before it listens, while it stops, and of a command. */
  readonly address: string | null;
}

/**
 * The right to be the one process that opens a database, held through an advisory lock on `<path>.lock`. The system
 * lets go of it when the process ends, however it ends. The file itself stays: removing it would let two processes lock
 * two files of one name.
 *
 * Whoever holds it writes its process id there, and a gateway that listens its address on a second line, so that
 * commands find the gateway that runs on a store. What a killed process left is not believed, as its lock is free.
 */
export class ProcessLock {
  readonly #file: Deno.FsFile;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /**
   * @param path The database's, absolute.
   * @throws {StoreInUseError} If another process, or another store of this one, holds it.
   */
  static async take(path: string): Promise<ProcessLock> {
    const options = { read: true, write: true, create: true, mode: PRIVATE_FILE_MODE };
    const file = await Deno.open(lockPathOf(path), options);
    if (!await acquire(file)) {
      const { pid } = await readHolder(file);
      file.close();
      throw new StoreInUseError(path, pid);
    }
    const lock = new ProcessLock(file);
    await lock.publish(null);
    return lock;
  }

  /** Tells who asks for the holder of this lock where its gateway is reached, or, with null, that it is not. */
  async publish(address: string | null): Promise<void> {
    const bytes = new TextEncoder().encode(address === null ? `${Deno.pid}\n` : `${Deno.pid}\n${address}\n`);
    await this.#file.truncate();
    await this.#file.seek(0, Deno.SeekMode.Start);
    await this.#file.write(bytes);
  }

  /** Lets the next one in. */
  async release(): Promise<void> {
    await this.#file.truncate();
    this.#file.close();
  }
}

/**
 * Who has a store now; null when nobody has, or there is no store.
 *
 * @param path The database's.
 * @throws What the system throws for a lock that this process may not open.
 */
export async function readStoreHolder(path: string): Promise<StoreHolder | null> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(lockPathOf(await Deno.realPath(path)), { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  try {
    // A shared lock is had only when nobody has the exclusive one. It is let go of at once.
    return await file.tryLock(false) ? null : await readHolder(file);
  } finally {
    file.close();
  }
}

const LOCK_TRIES = 3;
const LOCK_PAUSE_MS = 50;

/**
 * Whether the lock was had. Tries more than once, as {@linkcode readStoreHolder} of another process takes the lock for a
 * moment.
 */
async function acquire(file: Deno.FsFile): Promise<boolean> {
  for (let tries = 1; tries < LOCK_TRIES; tries++) {
    if (await file.tryLock(true)) return true;
    await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
  }
  return await file.tryLock(true);
}

function lockPathOf(path: string): string {
  return `${path}.lock`;
}

const MAX_HOLDER_BYTES = 512;

async function readHolder(file: Deno.FsFile): Promise<StoreHolder> {
  const bytes = new Uint8Array(MAX_HOLDER_BYTES);
  const length = await file.read(bytes).catch(() => null) ?? 0; // some systems let nobody read what is locked
  const [, pid, address] =
    /^(\d{1,10})\n(?:(https?:\/\/\S+)\n)?$/.exec(new TextDecoder().decode(bytes.subarray(0, length))) ?? [];
  return { pid: pid === undefined ? null : Number(pid), address: address ?? null };
}
