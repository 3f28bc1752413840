/** The caller's names of properties, by their names on the wire, by tool. */
export type ToolPropertyNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

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
  /**
   * The caller's names of properties, by their names on the wire, for each tool whose schema has names that the vendor
   * does not accept. The tools have the caller's names. Absent when no property was renamed.
   */
  readonly propertyNames?: ToolPropertyNames;
}
