import { randomBytes } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * `length` random characters of base 62, from the system's secure source. Bytes beyond the largest multiple of 62
 * are thrown away, so every character is equally likely.
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

/** Names one request in answers and logs: `req_` and 24 characters. Not a secret, unique enough to search for. */
export function newRequestId(): string {
  return `req_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/**
 * An order of instants that no two share: the millisecond, and a counter within it. It never goes backwards, also when
 * the clock does, and borrows from the next millisecond when one is full.
 *
 * @param mostCount The largest counter.
 */
export function risingInstants(mostCount: number): (nowMs: number) => { readonly ms: number; readonly count: number } {
  let ms = 0;
  let count = 0;
  return (nowMs) => {
    if (nowMs > ms) {
      ms = nowMs;
      count = 0;
    } else if (++count > mostCount) {
      ms++;
      count = 0;
    }
    return { ms, count };
  };
}

const nextInstant = risingInstants(0xffff);

/**
 * An id that sorts by time of making: 12 hexadecimal digits of milliseconds, 4 of a counter within the millisecond,
 * 12 random ones. Ids of one process never sort backwards, also when the clock does.
 *
 * @param nowMs Unix time in milliseconds.
 */
export function newSortableId(nowMs: number): string {
  const { ms, count } = nextInstant(nowMs);
  return ms.toString(16).padStart(12, "0") + count.toString(16).padStart(4, "0") + randomBytes(6).toString("hex");
}
