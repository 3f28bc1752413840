/** Where a text stops being JSON. */
export interface SyntaxMistake {
  /** In UTF-16 units from the start of the text; the length of the text when it ends too early. */
  readonly position: number;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units. */
  readonly column: number;
  /** What stands there, in our words: the text itself may be a prompt and is never repeated. */
  readonly found: "the end of the text" | "an unexpected character";
}

/**
 * The first mistake of a text that `JSON.parse` refused, since its own message repeats part of the text and often
 * leaves the position out. Grammar: RFC 8259.
 *
 * @returns null if the text is JSON.
 */
export function findSyntaxMistake(text: string): SyntaxMistake | null {
  const position = firstMistake(text);
  if (position < 0) return null;
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf("\n") + 1;
  return {
    position,
    line: before.split("\n").length,
    column: position - lineStart + 1,
    found: position >= text.length ? "the end of the text" : "an unexpected character",
  };
}

const SPACE = /[ \t\n\r]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/**
 * A walk without recursion: `open` holds the brackets that still want closing, `wants` what may come next. -1 when the
 * whole text is one value.
 */
function firstMistake(text: string): number {
  const open: ("{" | "[")[] = [];
  let wants: "value" | "value or ]" | "name" | "name or }" | "separator" = "value";
  let at = skip(SPACE, text, 0);
  for (;; at = skip(SPACE, text, at)) {
    const sign = text[at];
    if (wants === "separator") {
      const top = open.at(-1);
      if (top === undefined) return at === text.length ? -1 : at;
      if (sign === ",") wants = top === "{" ? "name" : "value";
      else if (sign === (top === "{" ? "}" : "]")) open.pop();
      else return at;
      at++;
    } else if (wants === "name" || wants === "name or }") {
      if (sign === "}" && wants === "name or }") {
        open.pop();
        wants = "separator";
        at++;
        continue;
      }
      if (sign !== '"') return at;
      const end = stringEnd(text, at);
      if (end < 0) return ~end;
      at = skip(SPACE, text, end);
      if (text[at] !== ":") return at;
      wants = "value";
      at++;
    } else if (sign === "]" && wants === "value or ]") {
      open.pop();
      wants = "separator";
      at++;
    } else if (sign === "{" || sign === "[") {
      open.push(sign);
      wants = sign === "{" ? "name or }" : "value or ]";
      at++;
    } else {
      const end = sign === '"' ? stringEnd(text, at) : scalarEnd(text, at);
      if (end < 0) return ~end;
      at = end;
      wants = "separator";
    }
  }
}

/** The offset after what the pattern matches at `at`; `at` itself when it does not. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The offset after the string that opens at `start`; `~position` of its mistake when it has one. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return ~at;
    if (code === 0x5c) {
      const end = skip(ESCAPE, text, at);
      if (end === at) return at + 1 < text.length ? ~at : ~text.length;
      at = end;
    } else at++;
  }
  return ~text.length;
}

/** As {@linkcode stringEnd}, for numbers and words; one that broke off, `tru` or `-`, is wrong where it goes wrong. */
function scalarEnd(text: string, start: number): number {
  const end = skip(SCALAR, text, start);
  if (end > start) return end;
  const word = WORDS.find((word) => word[0] === text[start]);
  if (word === undefined) return ~start;
  let length = 1;
  while (length < word.length && text[start + length] === word[length]) length++;
  return ~(start + length);
}

const WORDS = ["true", "false", "null", "-"];
