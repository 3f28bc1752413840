/** The first syntax error of a JSON text. */
export interface JsonMistake {
  /** In UTF-16 units from the start of the text; the length of the text if it is incomplete. */
  readonly position: number;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units. */
  readonly column: number;
  /** Never contains part of the text, which may be a prompt. */
  readonly found: "the end of the text" | "an unexpected character";
}

/**
 * Finds the syntax error in a text that `JSON.parse` rejected, from V8's message. Most messages state the position; the
 * others quote the text around it.
 *
 * @param error The error that `JSON.parse` threw for this text.
 * @returns Null if the message does not determine the position.
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

/** V8 quotes a shorter text completely. Trailing spaces make it longer without moving the error. */
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

/** The number of characters that V8 quotes before the error, and from the error on. */
const QUOTED_CHARACTERS = 10;

const QUOTING = /^Unexpected token '[^]{1,2}', (\.{3})?"([^]*)"(\.{3})? is not valid JSON$/;

/** The position of the text that a message quotes; null if that text occurs more than once. */
function quotedPosition(text: string, message: string): number | null {
  const [, isCutBefore, quoted = "", isCutBehind] = QUOTING.exec(message) ?? [];
  if (isCutBefore === undefined) return isCutBehind === undefined ? null : quoted.length - QUOTED_CHARACTERS;
  if (isCutBehind === undefined) return text.length - quoted.length + QUOTED_CHARACTERS;
  const at = text.indexOf(quoted);
  return at === text.lastIndexOf(quoted) ? at + QUOTED_CHARACTERS : null;
}
