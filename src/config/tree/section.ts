/** A section as written in the file. */
export type Section = { [key: string]: unknown };

/** Whether a value is a map. */
export function isSection(value: unknown): value is Section {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
