import { createHash } from "node:crypto";

/**
 * An identifier as most forms allow it: letters, digits, `_` and `-`, at most `longest` of them. Any other word is
 * spelled with `_` and ends in a short hash of itself, so that equal words stay equal and different ones different.
 */
export function legalWord(word: string, longest: number): string {
  const legal = word.replace(/[^a-zA-Z0-9_-]/g, "_");
  return legal === word && word !== "" && word.length <= longest ? word : withHash(legal, word, longest);
}

/** `text` cut to `longest` characters, the last nine of which are a mark made from `whole`. */
export function withHash(text: string, whole: string, longest: number): string {
  // A cut through a sign of two units leaves half of one, which is no text.
  return `${text.slice(0, longest - 9).toWellFormed()}_${shortHash(whole, 8)}`;
}

/** A word of any signs, cut where it is longer than `longest`; equal words stay equal and different ones different. */
export function cutWord(word: string, longest: number): string {
  return word.length <= longest ? word : withHash(word, word, longest);
}

/** A short name for a long text: the first `length` hexadecimal digits of its SHA-256. */
export function shortHash(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/**
 * A name that is not taken yet, and is from now on: the word itself as `legal` spells it, else numbered.
 *
 * @param taken The next number to try of each word, so that many equal words are told apart in one pass.
 * @param legal How the form spells a word: different words stay different.
 */
export function freeWord(word: string, taken: Map<string, number>, legal: (word: string) => string): string {
  let free = legal(word);
  let number = taken.get(word) ?? 2;
  while (taken.has(free)) free = legal(`${word}_${number++}`);
  taken.set(free, 2);
  taken.set(word, number);
  return free;
}
