/** Readers of values in another program's configuration, of which nothing is certain. */

/** A map of values by name. */
export type SourceMap = Readonly<Record<string, unknown>>;

/** The map in a value; an empty one if it has none. */
export function mapIn(value: unknown): SourceMap {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as SourceMap : {};
}

/** The items of a list; none if the value is no list. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text in a value; null if it is no text, or empty. */
export function textIn(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

/** The id in a value: a text, or a number as text; null if it is neither. */
export function idIn(value: unknown): string | null {
  return typeof value === "number" ? String(value) : textIn(value);
}

/** The number in a value, also as text; null if it is none. */
export function numberIn(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

/** The texts of a list. */
export function textsIn(value: unknown): readonly string[] {
  return listIn(value).flatMap((each) => textIn(each) ?? []);
}
