import { randomBytes } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * Returns `length` random base-62 characters from the system's secure source. Bytes at or above the largest multiple of
 * 62 are discarded, so that every character is equally likely.
 */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

const REQUEST_ID_PREFIX = "req_";
const MS_DIGITS = 12;
const RANDOM_REQUEST_DIGITS = 12;
const REQUEST_IDS_PER_DRAW = 256;

/** Random hexadecimal digits for request ids, and the number of those that are used. */
let randomDigits = "";
let usedDigits = 0;
/** The millisecond of the last request id, and what its ids start with. */
let lastMs = NaN;
let msPrefix = "";

/**
 * Creates the id of a request: `req_` and 24 hexadecimal digits. It is not secret. The first 12 digits are the
 * millisecond, so that an index of ids grows at its end.
 *
 * @param nowMs Unix time in milliseconds.
 */
export function newRequestId(nowMs: number): string {
  if (usedDigits === randomDigits.length) {
    randomDigits = randomBytes(REQUEST_IDS_PER_DRAW * RANDOM_REQUEST_DIGITS / 2).toString("hex");
    usedDigits = 0;
  }
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    msPrefix = REQUEST_ID_PREFIX + Math.floor(nowMs).toString(16).padStart(MS_DIGITS, "0");
  }
  return msPrefix + randomDigits.slice(usedDigits, usedDigits += RANDOM_REQUEST_DIGITS);
}

/** The millisecond in which the id of a request was created, in Unix time; 0 for a text that is not such an id. */
export function requestTimeOf(requestId: string): number {
  if (!requestId.startsWith(REQUEST_ID_PREFIX)) return 0;
  const digits = requestId.slice(REQUEST_ID_PREFIX.length, REQUEST_ID_PREFIX.length + MS_DIGITS);
  return /^[\da-f]{12}$/.test(digits) ? Number.parseInt(digits, 16) : 0;
}

/** Whether a text is a whole id of {@linkcode newRequestId}. */
export function isRequestId(text: string): boolean {
  return /^req_[\da-f]{24}$/.test(text);
}

/**
 * Creates a generator of unique, increasing instants: a millisecond and a counter within it. If the clock goes
 * backwards, the instants do not. A full millisecond continues in the next one.
 *
 * @param maxCount The largest counter value.
 */
export function risingInstants(maxCount: number): (nowMs: number) => { readonly ms: number; readonly count: number } {
  let ms = 0;
  let count = 0;
  return (nowMs) => {
    if (nowMs > ms) {
      ms = nowMs;
      count = 0;
    } else if (++count > maxCount) {
      ms++;
      count = 0;
    }
    return { ms, count };
  };
}

const nextInstant = risingInstants(0xffff);

/**
 * Creates an id that sorts by creation time. It has 12 hexadecimal digits of milliseconds, 4 digits of a counter within
 * the millisecond and 12 random digits. Ids of one process always increase, even if the clock goes backwards.
 *
 * @param nowMs Unix time in milliseconds.
 */
export function newSortableId(nowMs: number): string {
  const { ms, count } = nextInstant(nowMs);
  return ms.toString(16).padStart(12, "0") + count.toString(16).padStart(4, "0") + randomBytes(6).toString("hex");
}
