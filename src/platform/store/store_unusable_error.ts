/** A store that cannot be opened as it is. The message says why and what to do, and has no credentials. */
export class StoreUnusableError extends Error {
  override readonly name = "StoreUnusableError";

  /** @param code The code of the error of the database or the system. Default: none, empty. */
  constructor(message: string, readonly code: string = "") {
    super(message);
  }
}
