import { StateFailure } from "../lib/basics/held.ts";
import { StoreUnusableError } from "./store_unusable_error.ts";

/**
 * Whether an error that nothing has handled is one of the store, or of work that carries state. What is stored can then
 * differ from what is in memory, so that the process must end.
 */
export function isStateError(error: unknown): boolean {
  return error instanceof StateFailure || error instanceof StoreWriteError || error instanceof StoreReadError ||
    error instanceof StoreUnusableError || error instanceof JournalWriteError;
}

/** A write that the engine refused, for example on a full disk. It can be repeated with the same operation name. */
export class StoreWriteError extends Error {
  override readonly name = "StoreWriteError";

  /** @param cause The error of the database. */
  constructor(cause: unknown) {
    super(`Cannot write to the store: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** A record that could not be appended to the journal, or not synced. A part of it may be written. */
export class JournalWriteError extends Error {
  override readonly name = "JournalWriteError";

  /**
   * @param reason Why, without any part of the record.
   * @param cause The error of the system, if there is one.
   */
  constructor(reason: string, cause?: unknown) {
    super(`Cannot write to the journal: ${reason}`, { cause });
  }
}

/** A read that the engine could not make, for example because the database does not answer. It can be repeated. */
export class StoreReadError extends Error {
  override readonly name = "StoreReadError";

  /** @param reason Why, without stored values. */
  constructor(reason: string) {
    super(`Cannot read the store: ${reason}`);
  }
}
