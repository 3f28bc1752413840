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

/**
 * The right to be the one process that opens a database, held through an advisory lock on `<path>.lock`. The system
 * lets go of it when the process ends, however it ends. The file itself stays: removing it would let two processes lock
 * two files of one name.
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
    const file = await Deno.open(`${path}.lock`, { read: true, write: true, create: true });
    if (!await file.tryLock(true)) {
      const holder = await readHolder(file);
      file.close();
      throw new StoreInUseError(path, holder);
    }
    await file.truncate();
    await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
    return new ProcessLock(file);
  }

  /** Lets the next one in. */
  async release(): Promise<void> {
    await this.#file.truncate();
    this.#file.close();
  }
}

async function readHolder(file: Deno.FsFile): Promise<number | null> {
  const bytes = new Uint8Array(32);
  const length = await file.read(bytes).catch(() => null) ?? 0; // some systems let nobody read what is locked
  const holder = Number.parseInt(new TextDecoder().decode(bytes.subarray(0, length)), 10);
  return Number.isSafeInteger(holder) ? holder : null;
}
