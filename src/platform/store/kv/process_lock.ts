import { PRIVATE_FILE_MODE } from "../../lib/process/private_path.ts";

/** Another process uses the store. */
export class StoreInUseError extends Error {
  override readonly name = "StoreInUseError";

  /**
   * @param path The path of the database.
   * @param holder The process id of the other process; null if unknown.
   */
  constructor(readonly path: string, readonly holder: number | null) {
    const user = holder === null ? "another process" : `process ${holder}`;
    super(
      `Cannot open the store "${path}": it is in use by ${user}, a gateway or a command; stop it, or set "store" to ` +
        "another path",
    );
  }
}

/** The process that uses a store, as its lock file says. */
export interface StoreHolder {
  /** The process id; null while it is not written. */
  readonly pid: number | null;
  /** The address of its gateway; null before it listens, while it stops, and for a command. */
  readonly address: string | null;
}

/**
 * An exclusive advisory lock on `<path>.lock`, held by the one process that may open the database. The system releases
 * it whenever the process ends. The file is never removed, because two processes could then lock two files of one name.
 *
 * The holder writes its process id to the file, and a listening gateway writes its address on a second line. Commands
 * find the running gateway this way. Text left by a killed process is ignored, because its lock is free.
 */
export class ProcessLock {
  readonly #file: Deno.FsFile;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /**
   * @param path The absolute path of the database.
   * @throws {StoreInUseError} If another process, or another store of this process, holds the lock.
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

  /** Writes the gateway's address to the lock file; null removes it. */
  async publish(address: string | null): Promise<void> {
    const bytes = new TextEncoder().encode(address === null ? `${Deno.pid}\n` : `${Deno.pid}\n${address}\n`);
    await this.#file.truncate();
    await this.#file.seek(0, Deno.SeekMode.Start);
    await this.#file.write(bytes);
  }

  /** Releases the lock. */
  async release(): Promise<void> {
    await this.#file.truncate();
    this.#file.close();
  }
}

/**
 * The process that uses a store; null if there is none, or no store.
 *
 * @param path The path of the database.
 * @throws The system's error if this process may not open the lock file.
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
    // A shared lock is granted only if no process has the exclusive lock. Closing the file releases it.
    return await file.tryLock(false) ? null : await readHolder(file);
  } finally {
    file.close();
  }
}

const LOCK_TRIES = 3;
const LOCK_PAUSE_MS = 50;

/**
 * Whether the lock was taken. Tries more than once, because {@linkcode readStoreHolder} of another process holds the
 * lock for a moment.
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
  const length = await file.read(bytes).catch(() => null) ?? 0; // some systems refuse to read a locked file
  const [, pid, address] =
    /^(\d{1,10})\n(?:(https?:\/\/\S+)\n)?$/.exec(new TextDecoder().decode(bytes.subarray(0, length))) ?? [];
  return { pid: pid === undefined ? null : Number(pid), address: address ?? null };
}
