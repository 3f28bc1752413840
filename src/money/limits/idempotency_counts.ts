/** What requests with an `Idempotency-Key` use of the limits of their account. */
export interface IdempotencyUse {
  /** The number of keys. */
  readonly keys: number;
  /** The bytes of stored replies. */
  readonly bytes: number;
}

/** Counts what accounts use within 24 hours, for all threads, and for all processes that share a store. */
export interface IdempotencyCounts {
  /**
   * Counts what a request is going to use, unless its account would exceed a limit.
   *
   * @param most The limits; one that is absent does not apply.
   * @returns Whether it was counted. What is not used must be given back.
   */
  take(account: string, use: Partial<IdempotencyUse>, most: Partial<IdempotencyUse>): Promise<boolean>;
  /** Gives back what was counted and is not used. Never rejects. */
  giveBack(account: string, use: Partial<IdempotencyUse>): Promise<void>;
}
