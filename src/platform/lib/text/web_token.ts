/** What a credential in a text is replaced with. */
export const PLACEHOLDER = "[redacted]";

/** How the first part of a token begins: the base64 of `{"`. */
const START = "eyJ";
/** A part with fewer characters, or a first one with fewer after its start, is an ordinary word. */
const MIN_PART_CHARACTERS = 8;

/** The letters of a text. */
export type Letters = Pick<string, "length" | "charCodeAt" | "indexOf" | "slice">;

/**
 * Replaces JSON Web Tokens (RFC 7519): three parts of base64 with dots between them, of which the first is an object.
 *
 * It looks at each character at most three times: as one of the first, the second and the third part. A regular
 * expression would read up to the end of a part again for each `eyJ` in it.
 */
export function withoutWebTokens(text: Letters): string {
  let clean = "";
  let copied = 0;
  for (let at = text.indexOf(START); at >= 0;) {
    const first = isPartOfWord(text.charCodeAt(at - 1)) ? null : partEnd(text, at);
    const end = first === null ? null : tokenEnd(text, at, first);
    if (end !== null) {
      clean += text.slice(copied, at) + PLACEHOLDER;
      copied = end;
    }
    // Another start in a part that begins no token would have fewer characters.
    at = text.indexOf(START, end ?? first ?? at + START.length);
  }
  return clean + text.slice(copied);
}

/** Where the token ends that starts at a place, and whose first part ends at another one; null if it is none. */
function tokenEnd(text: Letters, start: number, firstEnd: number): number | null {
  let end = firstEnd;
  let partStart = start + START.length;
  for (let part = 0; part < 3; part++) {
    if (part > 0) {
      if (text.charCodeAt(end) !== DOT) return null;
      partStart = end + 1;
      end = partEnd(text, partStart);
    }
    if (end - partStart < MIN_PART_CHARACTERS) return null;
  }
  return end;
}

const DOT = 0x2e;
const HYPHEN = 0x2d;
const UNDERSCORE = 0x5f;

function partEnd(text: Letters, start: number): number {
  let end = start;
  while (isOfPart(text.charCodeAt(end))) end++;
  return end;
}

/** A letter or a digit of base64 as it is in addresses. The code after the end of a text is not a number. */
function isOfPart(code: number): boolean {
  return code === HYPHEN || isPartOfWord(code);
}

function isPartOfWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) ||
    code === UNDERSCORE;
}
