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

const BACKSLASH = 0x5c;
const ESCAPE_BYTES = 6;

/**
 * The cuts that replace halves of characters in a range of a JSON text, in order.
 *
 * @param bytes UTF-8, in which halves are always escaped.
 */
export function halfCharacterCuts(bytes: Uint8Array<ArrayBuffer>, start: number, end: number): Cut[] {
  const cuts: Cut[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  let from = 0;
  for (let at = nextEscape(text, from); at >= 0; at = nextEscape(text, from)) {
    from = at + ESCAPE_BYTES;
    const half = kindOf(text, at);
    if (half === null) {
      from = at + 2;
      continue;
    }
    const isPair = half === "high" && kindOf(text, from) === "low";
    if (isPair) from += ESCAPE_BYTES;
    else cuts.push({ start: start + at, end: start + at + ESCAPE_BYTES, text: REPLACEMENT });
  }
  return cuts;
}

/** The next escape that may be half of a character; -1 for none. */
function nextEscape(text: Buffer, from: number): number {
  const lower = text.indexOf("\\ud", from);
  const upper = text.indexOf("\\uD", from);
  return lower < 0 || upper < 0 ? Math.max(lower, upper) : Math.min(lower, upper);
}

/** Which half of a character an escape is; null if it is neither, or no escape. */
function kindOf(text: Buffer, at: number): "high" | "low" | null {
  let before = at - 1;
  while (text[before] === BACKSLASH) before--;
  const isEscape = (at - before) % 2 === 1;
  const digits = text.toString("latin1", at + 2, at + ESCAPE_BYTES);
  if (!isEscape || text[at] !== BACKSLASH || !/^d[0-9a-f]{3}$/i.test(digits)) return null;
  if (/^d[89ab]/i.test(digits)) return "high";
  return /^d[c-f]/i.test(digits) ? "low" : null;
}
