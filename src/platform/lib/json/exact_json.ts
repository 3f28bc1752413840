declare global {
  interface JSON {
    /**
     * Makes a value that `JSON.stringify` writes as this text of a number.
     * Source: TC39, "JSON.parse source text access".
     */
    rawJSON(text: string): object;
    /** Whether a value was made by `rawJSON`. */
    isRawJSON(value: unknown): boolean;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const COLON = /[ \t\n\r]*:/y;

/** Marks the text of a number in a string. Random, so that no text of a caller has it. */
const MARK = `\u0000${crypto.randomUUID()} `;

/** Whether the numbers in the value of a member keep their digits. @param value An object or a list. */
export type IsExactMember = (name: string, value: object) => boolean;

/**
 * Parses a JSON text. Numbers within exact members keep their digits: where a number of this language would be written
 * with other digits (`2512292042121000001`, `1.0`, `1e400`), its place holds a `JSON.rawJSON`, which `JSON.stringify`
 * writes unchanged. Anywhere else it is a number.
 *
 * @param isExact Which members are exact, with everything in them; `true` for the whole text.
 * @throws {SyntaxError} As `JSON.parse`.
 */
export function parseExactJson(text: string, isExact: IsExactMember | true): unknown {
  const marked = withMarkedNumbers(text);
  if (marked === null) return JSON.parse(text);
  const root: { value: unknown } = { value: JSON.parse(marked) };
  replaceMarks(root, isExact);
  return root.value;
}

/** Whether a JSON text has a number that a number of this language would be written as with other digits. */
export function hasInexactNumber(text: string): boolean {
  return withMarkedNumbers(text) !== null;
}

/** The text with the numbers as marked strings that a number of this language cannot hold; null if it has none. */
function withMarkedNumbers(text: string): string | null {
  let marked = "";
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0] ?? "";
      if (number !== "" && String(Number(number)) !== number) {
        COLON.lastIndex = at + number.length;
        // A number as a name is a mistake, which stays one.
        if (COLON.test(text)) return null;
        marked += `${text.slice(copied, at)}${JSON.stringify(MARK + number)}`;
        copied = at + number.length;
      }
      at += Math.max(number.length - 1, 0);
    }
  }
  return copied === 0 ? null : marked + text.slice(copied);
}

/** The index of the quote that ends a string; the length of the text if none does. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

/** Replaces the marked strings. It uses no recursion, because arguments of calls are nested to any depth. */
function replaceMarks(root: object, isExact: IsExactMember | true): void {
  const left: { readonly holder: object; readonly isExact: boolean }[] = [{ holder: root, isExact: isExact === true }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const holder = next.holder as Record<string, unknown>;
    for (const name of Object.keys(holder)) {
      const value = holder[name];
      if (typeof value === "object" && value !== null) {
        left.push({ holder: value, isExact: next.isExact || (isExact !== true && isExact(name, value)) });
      } else if (typeof value === "string" && value.startsWith(MARK)) {
        const number = value.slice(MARK.length);
        Object.defineProperty(holder, name, {
          value: next.isExact ? JSON.rawJSON(number) : Number(number),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      }
    }
  }
}

/** Whether a value is a number, also one that keeps its digits. */
export function isJsonNumber(value: unknown): boolean {
  return typeof value === "number" || JSON.isRawJSON(value);
}

/** Whether objects and lists are nested in a value to more levels than a limit. */
export function isNestedDeeperThan(value: unknown, maxLevels: number): boolean {
  let level: unknown[] = [value];
  for (let levels = 0; level.length > 0; levels++) {
    level = level.flatMap((each) =>
      typeof each === "object" && each !== null && !JSON.isRawJSON(each) ? Object.values(each) : []
    );
    if (levels > maxLevels) return true;
  }
  return false;
}

/** As `JSON.stringify`, for a value of any depth. */
export function jsonTextOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return deepJsonTextOf(value);
  }
}

/** Writes a value without recursion. */
function deepJsonTextOf(root: unknown): string {
  const texts: string[] = [];
  const left: ({ readonly text: string } | { readonly value: unknown })[] = [{ value: root }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if ("text" in next) texts.push(next.text);
    else if (typeof next.value !== "object" || next.value === null || JSON.isRawJSON(next.value)) {
      texts.push(JSON.stringify(next.value) ?? "null");
    } else {
      const isList = Array.isArray(next.value);
      const members = Object.entries(next.value).filter(([, value]) => isList || value !== undefined);
      left.push({ text: isList ? "]" : "}" });
      for (const [index, [name, value]] of [...members.entries()].reverse()) {
        left.push({ value });
        left.push({ text: `${index > 0 ? "," : ""}${isList ? "" : `${JSON.stringify(name)}:`}` });
      }
      left.push({ text: isList ? "[" : "{" });
    }
  }
  return texts.join("");
}
