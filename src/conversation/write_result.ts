/** A value in a wire format, and the neutral names (`top_k`, `stop`, `image`) of what the format cannot express. */
export interface WriteResult<T> {
  /** The value to send. */
  readonly body: T;
  /** Empty when the format expresses everything. */
  readonly droppedFields: readonly string[];
  /** The version of the vendor's interface that the request is sent with. Absent: the provider's own. */
  readonly version?: string;
  /**
   * The caller's names of tools, by their names on the wire, where the format does not allow the caller's. Absent when
   * no name changed. Names in the reply are mapped back through it.
   */
  readonly toolNames?: ReadonlyMap<string, string>;
}
