/** A read that the engine could not make, for example because the database does not answer. It can be repeated. */
export class StoreReadError extends Error {
  override readonly name = "StoreReadError";

  /** @param reason Why, without stored values. */
  constructor(reason: string) {
    super(`Cannot read the store: ${reason}`);
  }
}
