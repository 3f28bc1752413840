import { createHash } from "node:crypto";

/**
 * An identifier in the alphabet that most formats allow: letters, digits, `_` and `-`, at most `maxLength` characters.
 * Any other name is spelled with `_` and ends in a short hash of itself, so that different names stay different.
 */
export function sanitizeName(name: string, maxLength: number): string {
  const sanitized = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  return sanitized === name && name !== "" && name.length <= maxLength ? name : withHash(sanitized, name, maxLength);
}

/** Cuts `text` to `maxLength` characters; the last nine are an underscore and a hash of `whole`. */
export function withHash(text: string, whole: string, maxLength: number): string {
  // A cut between two surrogates leaves half a character, which is not well-formed.
  return `${text.slice(0, maxLength - 9).toWellFormed()}_${shortHash(whole, 8)}`;
}

/** Cuts a name longer than `maxLength` characters. Equal names stay equal and different ones different. */
export function truncateName(name: string, maxLength: number): string {
  return name.length <= maxLength ? name : withHash(name, name, maxLength);
}

/** A short name for a long text: the first `length` hexadecimal digits of its SHA-256. */
export function shortHash(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/**
 * A unique name, which is then taken: the name as `sanitize` spells it, or else with a number.
 *
 * @param taken The next number to try for each name, so that many equal names are numbered in one pass.
 * @param sanitize Spells a name for the format; different names stay different.
 */
export function uniqueName(name: string, taken: Map<string, number>, sanitize: (name: string) => string): string {
  let unique = sanitize(name);
  let number = taken.get(name) ?? 2;
  while (taken.has(unique)) unique = sanitize(`${name}_${number++}`);
  taken.set(unique, 2);
  taken.set(name, number);
  return unique;
}
