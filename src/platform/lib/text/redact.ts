import { Buffer } from "node:buffer";
import { PLACEHOLDER, withoutWebTokens } from "./web_token.ts";

/** Removes secrets and media from a text of foreign origin before it reaches a caller or a log. */
export type Redactor = (text: string) => string;

const MAX_TEXT_CHARACTERS = 2_000;
const MAX_SEARCHED_CHARACTERS = 16_000;
/** Configured secrets are looked for in so much of a text: far more than is shown, and little enough to be quick. */
const MAX_READ_CHARACTERS = 64_000;
const MIN_SECRET_CHARACTERS = 8;

/** The pattern of a credential, and how it differs from an ordinary word with the same prefix. */
interface Shape {
  readonly pattern: RegExp;
  /** Called with the match and its first group. Default: every match is a credential. */
  readonly isCredential?: (found: string, token: string) => boolean;
}

/**
 * Patterns of credentials as vendors print them, and of anything long enough to be media or an encoded secret.
 *
 * Every repetition is bounded: the engine keeps a place to go back to for each character of one, and fails with a
 * `RangeError` beyond some million. No credential has more than 8,192 characters.
 *
 * None reads a part of a text again for each place at which it could begin: what a pattern repeats is all that it
 * needs, or cannot contain another beginning.
 */
const SHAPES: readonly Shape[] = [
  { pattern: /\b(?:sk|pk|rk|xai|gsk|whsec)[-_][A-Za-z0-9_\-.*]{12,8192}/g, isCredential: isMixed },
  { pattern: /\b(?:AIza|ya29\.|AKIA|ASIA)[A-Za-z0-9_\-.*]{12,8192}/g },
  { pattern: /\bBearer\s{1,64}([A-Za-z0-9._~+/=*-]{8,8192})/gi, isCredential: (_found, token) => isMixed(token) },
  { pattern: /\bBasic\s{1,64}([A-Za-z0-9+/=]{8,8192})/gi, isCredential: (_found, token) => holdsPassword(token) },
  { pattern: /\b(?:org|proj|user)-([A-Za-z0-9]{12,8192})/g, isCredential: (_found, id) => isMixed(id) },
  { pattern: /\borgani[sz]ation\W{1,4}(?:id\W{1,4})?[0-9a-f]{8}-[0-9a-f-]{27}/gi },
  { pattern: /\bprojects?[ /]\d{6,8192}/gi },
  {
    pattern:
      /[?&](?:(?:api|access)?[-_]?(?:key|token)|sig|signature|x-amz-[a-z-]{1,64}|x-goog-[a-z-]{1,64})=[^&\s"']{1,8192}/gi,
  },
  { pattern: /\/\/[^\s/@:]{1,1024}:[^\s/@]{1,8192}@/g },
  // Any run, so that the engine does not look for a long one at each character of a short one. A longer run is cut. The
  // last part has what would be too short by itself.
  {
    pattern: /[A-Za-z0-9+/_-]{1,8192}(?:[A-Za-z0-9+/_-]{1,199}(?![A-Za-z0-9+/_-]))?={0,2}/g,
    isCredential: isEncoded,
  },
];

/** A shorter run of letters and digits is an ordinary word. */
const MIN_ENCODED_CHARACTERS = 200;

const REPEATED_PLACEHOLDER = /\[redacted\](?:\[redacted\]){1,1024}/g;

/**
 * Creates a redactor for the configured secrets (plain, URL-encoded, JSON-escaped or base64) and for common patterns of
 * credentials. Its result has at most 2,000 characters and an ellipsis.
 *
 * @param secrets The configured keys. Keys under 8 characters are too common to search for.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  // Longest first: a secret may be a prefix of another, and the rest of the longer one must not remain.
  const known = [...new Set(secrets)].filter(({ length }) => length >= MIN_SECRET_CHARACTERS)
    .sort((a, b) => b.length - a.length)
    .flatMap((secret) => [spellingsOf(secret), base64Of(secret)]);
  return (text) => {
    let clean = beginningOf(text, MAX_READ_CHARACTERS);
    for (const secret of known) clean = clean.replace(secret, PLACEHOLDER);
    clean = withoutCredentials(beginningOf(clean, MAX_SEARCHED_CHARACTERS));
    return clean.length > MAX_TEXT_CHARACTERS ? `${clean.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()}…` : clean;
  };
}

/** Removes everything that looks like a credential or like encoded media from a text of any length. */
export function withoutCredentials(text: string): string {
  const clean = SHAPES.reduce(
    (clean, { pattern, isCredential }) =>
      clean.replace(pattern, (found, token) => isCredential?.(found, token) === false ? found : PLACEHOLDER),
    withoutWebTokens(text),
  );
  return clean.replace(REPEATED_PLACEHOLDER, PLACEHOLDER);
}

/** Matches a secret with any of its characters escaped as in URLs or JSON, the latter up to twice. */
function spellingsOf(secret: string): RegExp {
  return new RegExp([...secret].map(spellingOf).join(""), "g");
}

/** Escapes precede the plain character, so that no escape is matched in part. */
function spellingOf(sign: string): string {
  const code = sign.charCodeAt(0).toString(16).padStart(4, "0");
  const escapes = [`%${anyCase(encodedHexOf(sign))}`, `\\\\{1,2}u${anyCase(code)}`];
  if (sign === " ") escapes.push("\\+");
  const backslashes = sign === '"' || sign === "/" ? "\\\\{0,3}" : "";
  const itself = sign === "\\" ? "\\\\{1,4}" : backslashes + sign.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  return `(?:${escapes.join("|")}|${itself})`;
}

/** The URL-encoded bytes of a character, without the first percent sign. */
function encodedHexOf(sign: string): string {
  return [...Buffer.from(sign)].map((byte) => byte.toString(16).padStart(2, "0")).join("%");
}

function anyCase(hexadecimal: string): string {
  return hexadecimal.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Matches the base64 of a secret in either alphabet, up to the last character that no following byte can change. */
function base64Of(secret: string): RegExp {
  const bytes = Buffer.from(secret);
  const stem = bytes.subarray(0, bytes.length - bytes.length % 3).toString("base64");
  const either = stem.replace(/[+/]/g, (sign) => sign === "+" ? "[+-]" : "[/_]");
  return new RegExp(`${either}[A-Za-z0-9+/_-]{0,3}={0,2}`, "g");
}

/** Whether a word contains what keys have and words lack: digits, asterisks, or capitals inside a long word. */
function isMixed(word: string): boolean {
  return /[0-9*]/.test(word) || (word.length >= 20 && /[a-z][A-Z]/.test(word));
}

/** Whether a token is a `Basic` credential: base64 of a name, a colon and a password (RFC 7617, 2). */
function holdsPassword(token: string): boolean {
  return token.length % 4 === 0 && Buffer.from(token, "base64").includes(":");
}

/**
 * Whether a long run is encoded bytes rather than a path or hyphenated words, which have separators every few
 * characters.
 */
function isEncoded(run: string): boolean {
  if (run.length < MIN_ENCODED_CHARACTERS) return false;
  const separators = run.length - run.replace(/[/_-]/g, "").length;
  return separators < run.length / 12 && /\d/.test(run) && /[A-Za-z]/.test(run);
}

/** The first `most` characters without a partial word at the end, which could be part of a credential. */
function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = most;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
