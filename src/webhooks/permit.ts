/** Whose attempt it is, and its address. */
export interface Destination {
  readonly account: string;
  readonly url: string;
}

/** A place. */
export interface Permit {
  readonly isGranted: true;
  /**
   * Gives the place back.
   *
   * @param durationMs How long the attempt took; null when it did not come to an end.
   */
  release(durationMs: number | null): void;
}

/** No place: ask again after that time. */
export interface Postponement {
  readonly isGranted: false;
  readonly delayMs: number;
}
