import { Buffer } from "node:buffer";
import type { Cut } from "./json_cuts.ts";

/** Stands in for half of a character. Source: Unicode Standard, 3.9, "U+FFFD Substitution". */
const REPLACEMENT = "\\ufffd";

/**
 * A JSON value as text that every parser reads. Half of a character, such as the end of a text that was cut within an
 * emoji, is written as the replacement character: strict parsers refuse its escape. Source: RFC 7493, 2.1.
 */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Whole characters are written as they are, so an escape is half of one, or a backslash that the text contains.
  if (!text.includes("\\ud")) return text;
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, (escape) => escape.startsWith("\\ud") ? REPLACEMENT : escape);
}

const ESCAPE_CHARACTERS = 6;

/**
 * The cuts that replace halves of characters in a range of a JSON text, in order.
 *
 * @param bytes UTF-8, in which halves are always escaped.
 */
export function halfCharacterCuts(bytes: Uint8Array<ArrayBuffer>, start: number, end: number): Cut[] {
  const cuts: Cut[] = [];
  // Searching a text takes a twentieth of the time of searching bytes.
  const text: string = Buffer.prototype.latin1Slice.call(bytes, start, end);
  if (!text.includes("\\u")) return cuts;
  const escapes = /\\u[dD]/g;
  for (let found = escapes.exec(text); found !== null; found = escapes.exec(text)) {
    const at = found.index;
    const half = kindOf(text, at);
    if (half === null) continue;
    const next = at + ESCAPE_CHARACTERS;
    const isPair = half === "high" && kindOf(text, next) === "low";
    escapes.lastIndex = isPair ? next + ESCAPE_CHARACTERS : next;
    if (!isPair) cuts.push({ start: start + at, end: start + next, text: REPLACEMENT });
  }
  return cuts;
}

/** Which half of a character an escape is; null if it is neither, or no escape. */
function kindOf(text: string, at: number): "high" | "low" | null {
  if (text[at] !== "\\") return null;
  let before = at - 1;
  while (text[before] === "\\") before--;
  const isEscape = (at - before) % 2 === 1;
  const digits = text.slice(at + 2, at + ESCAPE_CHARACTERS);
  if (!isEscape || !/^d[0-9a-f]{3}$/i.test(digits)) return null;
  if (/^d[89ab]/i.test(digits)) return "high";
  return /^d[c-f]/i.test(digits) ? "low" : null;
}
