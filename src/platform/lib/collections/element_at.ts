/**
 * The element at an index that the caller has proven to be in range.
 *
 * @throws {RangeError} If the list has no element there, which is a defect of the caller.
 */
export function elementAt<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index];
  if (element === undefined) throw new RangeError(`No element at index ${index}: the list has ${list.length}`);
  return element;
}
