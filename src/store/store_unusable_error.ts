/** A store that cannot be opened as it is. The message says why and what to do, and has no credentials. */
export class StoreUnusableError extends Error {
  override readonly name = "StoreUnusableError";
}
