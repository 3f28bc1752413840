/** Where a text stops being JSON. */
export interface JsonMistake {
  /** In UTF-16 units from the start of the text; the length of the text when it ends too early. */
  readonly position: number;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units. */
  readonly column: number;
  /** Never a part of the text, which may be a prompt. */
  readonly found: "the end of the text" | "an unexpected character";
}

/**
 * The mistake that `JSON.parse` refused a text for, read from V8's message: most name the position, the others quote
 * the text around it.
 *
 * @param error What `JSON.parse` threw for this text.
 * @returns Null when the message does not tell the position.
 */
export function jsonMistakeIn(text: string, error: SyntaxError): JsonMistake | null {
  const position = positionIn(text, error.message);
  if (position === null) return null;
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf("\n") + 1;
  return {
    position,
    line: before.split("\n").length,
    column: position - lineStart + 1,
    found: position >= text.length ? "the end of the text" : "an unexpected character",
  };
}

function positionIn(text: string, message: string): number | null {
  const named = / in JSON at position (\d+)|after JSON at position (\d+)/.exec(message);
  if (named) return Number(named[1] ?? named[2]);
  if (message === "Unexpected end of JSON input") return text.length;
  return text.length < MIN_QUOTABLE_CHARACTERS ? positionInShort(text) : quotedPosition(text, message);
}

/** V8 quotes a shorter text as a whole. Blanks behind it make it longer and leave the mistake where it is. */
const MIN_QUOTABLE_CHARACTERS = 21;

function positionInShort(text: string): number | null {
  const long = text.padEnd(MIN_QUOTABLE_CHARACTERS * 2);
  try {
    JSON.parse(long);
    return null;
  } catch (thrown) {
    return thrown instanceof SyntaxError ? quotedPosition(long, thrown.message) : null;
  }
}

/** V8 quotes so many characters before the mistake, and as many from it on. */
const QUOTED_CHARACTERS = 10;

const QUOTING = /^Unexpected token '[^]{1,2}', (\.{3})?"([^]*)"(\.{3})? is not valid JSON$/;

/** The position by the text that a message quotes; null where that text occurs more than once. */
function quotedPosition(text: string, message: string): number | null {
  const [, isCutBefore, quoted = "", isCutBehind] = QUOTING.exec(message) ?? [];
  if (isCutBefore === undefined) return isCutBehind === undefined ? null : quoted.length - QUOTED_CHARACTERS;
  if (isCutBehind === undefined) return text.length - quoted.length + QUOTED_CHARACTERS;
  const at = text.indexOf(quoted);
  return at === text.lastIndexOf(quoted) ? at + QUOTED_CHARACTERS : null;
}
