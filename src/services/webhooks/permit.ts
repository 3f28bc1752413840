/** The account and address of an attempt. */
export interface Destination {
  readonly account: string;
  readonly url: string;
}

/** The right to make one attempt now. */
export interface Permit {
  readonly isGranted: true;
  /**
   * Frees the place.
   *
   * @param durationMs Duration of the attempt; null if it did not complete.
   */
  release(durationMs: number | null): void;
}

/** No place is free: request one again after this delay. */
export interface Postponement {
  readonly isGranted: false;
  readonly delayMs: number;
}
