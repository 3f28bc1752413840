import { type ErrorCode, YAMLParseError } from "yaml";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** A fault of the syntax of a YAML file. */
export interface SyntaxFault {
  readonly code: ErrorCode;
  /** The parser's message. It is compared, and never printed: it quotes the line, which can contain a key. */
  readonly message: string;
  /** Where it is in the text. */
  readonly offset: number;
}

/** The meaning of the parser's error codes. */
const EXPECTED: Readonly<Partial<Record<ErrorCode, string>>> = {
  ALIAS_PROPS: "an alias without properties",
  BAD_ALIAS: "a valid alias",
  BAD_DQ_ESCAPE: "a valid escape in double quotes",
  BAD_INDENT: "the same indentation as the line that it belongs with",
  BAD_SCALAR_START: "a value that starts with another character, or quotes around it",
  BLOCK_AS_IMPLICIT_KEY: "one key on the line, or quotes around a value with a colon",
  BLOCK_IN_FLOW: "no block inside braces or brackets",
  DUPLICATE_KEY: "each key once",
  MISSING_CHAR: 'a colon and a space after the key: "key: value"',
  MULTILINE_IMPLICIT_KEY: 'a colon and a space after the key: "key: value"',
  MULTIPLE_DOCS: "one document",
  NON_STRING_KEY: "keys of plain text",
  RESOURCE_EXHAUSTION: "a less deeply nested file",
  TAB_AS_INDENT: "spaces as indentation, got a tab",
  TAG_RESOLVE_FAILED: "only the tags of YAML itself",
  UNEXPECTED_TOKEN: "quotes around a value with special characters, or a comma",
};

/** Faults that share a code with others, by a part of the parser's message. */
const EXPECTED_BY_MESSAGE: readonly (readonly [part: string, expected: string])[] = [
  ["Sequence item without -", 'another indentation, or a "-" before an item of the list'],
  ["-end token", "an opening bracket or brace before a closing one"],
];

/**
 * One problem of several lines: where the fault is and what was expected, the line of the file, and a mark below the
 * column. Values are shown as dots, since a key can be among them.
 *
 * @param text The file with the marks of `markExpressions`.
 */
export function syntaxProblem(file: string, text: string, { code, message, offset }: SyntaxFault): string {
  const open = isOfOpening(code, message) ? lastOpening(text.slice(0, offset)) : null;
  const at = open?.at ?? visiblePlace(text, offset, code);
  const expected = ownValue(CLOSING, open?.sign ?? "") ?? expectedOf(code, message);
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const { line, column } = shownLine(text.slice(start, end === -1 ? text.length : end), at - start);
  const number = String(text.slice(0, at).split("\n").length);
  const cut = Math.max(0, column - MAX_BEFORE);
  return [
    `${file}: line ${number}: expected ${expected}`,
    `  ${number} | ${line.slice(cut, column + MAX_AFTER)}`,
    `  ${" ".repeat(number.length)} | ${" ".repeat(column - cut)}^`,
  ].join("\n");
}

/** The problem of an error of the parser, as {@linkcode syntaxProblem} describes it; null for another error. */
export function syntaxProblemOf(error: unknown, file: string, text: string): string | null {
  if (!(error instanceof YAMLParseError)) return null;
  const { code, message, pos: [offset] } = error;
  return syntaxProblem(file, text, { code, message, offset });
}

const MAX_BEFORE = 70;
const MAX_AFTER = 40;
const CLOSING: Readonly<Record<string, string>> = {
  "{": 'a closing "}"',
  "[": 'a closing "]"',
  '"': "a closing quote",
  "'": "a closing quote",
};

function expectedOf(code: ErrorCode, message: string): string {
  const special = EXPECTED_BY_MESSAGE.find(([part]) => message.includes(part));
  return special?.[1] ?? EXPECTED[code] ?? "valid YAML";
}

/** Whether the fault is a bracket, brace or quote that is not closed. */
function isOfOpening(code: ErrorCode, message: string): boolean {
  return (code === "BAD_INDENT" && message.startsWith("Flow ")) || message.startsWith("Missing closing");
}

/** Quoted texts, comments and signs of the flow style, in this order. An open quote reaches to the end. */
const TOKENS = /"(?:[^"\\]|\\.)*("|$)|(?<=^|[\s:,{[])'(?:[^']|'')*('|$)|(?<=^|\s)#.*|[{}[\]]/gms;

/** The last bracket, brace or quote that is opened and not closed; null if there is none. */
function lastOpening(text: string): { readonly sign: string; readonly at: number } | null {
  const open: { sign: string; at: number }[] = [];
  for (const { 0: token, 1: double, 2: single, index: at } of text.matchAll(TOKENS)) {
    const sign = token.charAt(0);
    const isOpenQuote = (sign === '"' && double === "") || (sign === "'" && single === "");
    if (isOpenQuote || sign === "{" || sign === "[") open.push({ sign, at });
    if (sign === "}" || sign === "]") open.pop();
  }
  return open.at(-1) ?? null;
}

/** Past the indentation, except for a tab in it, and not past the last line. */
function visiblePlace(text: string, offset: number, code: ErrorCode): number {
  const at = Math.min(offset, Math.max(0, text.trimEnd().length - 1));
  if (code === "TAB_AS_INDENT") return at;
  return at + (/^[ \t]*/.exec(text.slice(at))?.[0].length ?? 0);
}

/** A key of plain letters where one can begin, the signs of YAML, an expression, or another character. */
const SHOWN = /(?<=^\s*(?:- +)*|[{,]\s*)[a-z][a-z_]{0,30}(?=:(?:\s|$))|\ue000\d+\ue001|[\s\S]/g;
const SIGNS = /^[\s{}[\]:,"'#*&!|>@%`-]$/;

/** A line of the file with keys and signs as they are and everything else as dots, and the column of a place in it. */
function shownLine(plain: string, at: number): { readonly line: string; readonly column: number } {
  let line = "";
  let column: number | null = null;
  for (const { 0: word, index } of plain.matchAll(SHOWN)) {
    if (index >= at) column ??= line.length;
    line += shownWord(word);
  }
  return { line, column: column ?? line.length };
}

function shownWord(word: string): string {
  if (word === "\t") return "→";
  if (word.startsWith("\ue000")) return "${…}";
  return word.length > 1 || SIGNS.test(word) ? word.replace(/[\r\n]/, " ") : "·";
}
