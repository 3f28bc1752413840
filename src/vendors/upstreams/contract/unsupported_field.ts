/** A field of an order that a vendor's format lacks, or whose value it lacks. */
export interface UnsupportedField {
  /** By the caller's name. */
  readonly field: string;
  /** What could be sent, as the end of an error message. */
  readonly expected: string;
}
