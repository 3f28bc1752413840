/** A write that the engine refused, for example on a full disk. It can be repeated with the same operation name. */
export class StoreWriteError extends Error {
  override readonly name = "StoreWriteError";

  /** @param cause The error of the database. */
  constructor(cause: unknown) {
    super(`Cannot write to the store: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
