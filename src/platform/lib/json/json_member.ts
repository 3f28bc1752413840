/**
 * Sets one member of an object within a JSON text. All other characters stay unchanged, so that a large text need not
 * be parsed and written again.
 *
 * @param text JSON, as Latin-1 or decoded; every other text is possible as well and mostly leads to null.
 * @param path The names from the root to the object. Of repeated names, the first counts.
 * @param member Its name, which must need no escape, and its value as JSON. An existing value is replaced.
 * @returns Null if there is no object at that path.
 */
export function withMember(
  text: string,
  path: readonly string[],
  member: { readonly name: string; readonly value: string },
): string | null {
  let at = skipSpace(text, 0);
  for (const name of path) {
    const found = memberOf(text, at, name);
    if (found === null) return null;
    at = found.start;
  }
  if (text[at] !== "{") return null;
  const own = memberOf(text, at, member.name);
  if (own !== null) return text.slice(0, own.start) + member.value + text.slice(own.end);
  const separator = text[skipSpace(text, at + 1)] === "}" ? "" : ",";
  return `${text.slice(0, at + 1)}"${member.name}":${member.value}${separator}${text.slice(at + 1)}`;
}

/** The range of a value. */
interface ValueRange {
  readonly start: number;
  /** Just after its last character. */
  readonly end: number;
}

/** The value of a member of the object that starts at `start`; null if there is none. */
function memberOf(text: string, start: number, name: string): ValueRange | null {
  if (text[start] !== "{") return null;
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const nameEnd = stringEnd(text, at);
    const isFound = nameEnd - at === name.length + 2 && text.startsWith(name, at + 1);
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = valueEnd(text, valueStart);
    if (isFound) return end > valueStart ? { start: valueStart, end } : null;
    at = skipSpace(text, end);
    if (text[at] !== ",") return null;
    at = skipSpace(text, at + 1);
  }
  return null;
}

/** The offset just after the value that starts at `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      if (depth === 0) return at; // the end of the object, after a number or a literal
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (character === "," || isSpace(character))) return at;
  }
  return text.length;
}

/** The offset just after the closing quote of the string that starts at `start`. */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let before = at - 1;
    while (text[before] === "\\") before--;
    if ((at - before) % 2 === 1) return at + 1;
    at = text.indexOf('"', at + 1);
  }
  return text.length;
}

function isSpace(character: string | undefined): boolean {
  return character === " " || character === "\n" || character === "\r" || character === "\t";
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text[at])) at++;
  return at;
}
