/** True when a field has a value: not absent, false or empty. */
export function hasValue(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}
