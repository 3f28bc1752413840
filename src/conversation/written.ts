/** A wire value, and the names of what the format could not say, in the neutral spelling (`top_k`, `stop`, `image`). */
export interface Written<T> {
  /** The value as it goes on the wire. */
  readonly body: T;
  /** Empty when the format could say everything. */
  readonly losses: readonly string[];
  /**
   * The caller's names of tools by those on the wire, where the format does not allow the caller's; left out when all
   * names went as they were. A reply's names are mapped back through it.
   */
  readonly toolNames?: ReadonlyMap<string, string>;
}
