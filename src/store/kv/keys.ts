/**
 * The keys of the embedded engine, and the order of keys that every engine keeps.
 *
 * | key | value | written by |
 * |---|---|---|
 * | `schema` | number | the first open |
 * | `generation` | number, one higher at every open | open |
 * | `clock` | Unix milliseconds, the clock when due times were last written | add, postpone, claim, renew |
 * | `value` … the caller's key | `[value]` or `[value, expiresAt]` | set, delete |
 * | `operation` name | `expiresAt` | a named commit |
 * | `balance` account | `[available, held, lines]` | move, ledger |
 * | `line` account, number | `[operation, reference, available, held, at, detail]` | ledger |
 * | `reference` operation, reference | `true`: this line was written | ledger |
 * | `job` kind, ref | {@linkcode JobRecord} | add, settle, postpone, claim, renew |
 * | `due` kind, generation, dueAt, id | ref | the same: a job has exactly one |
 *
 * A charge of one move and one ledger line is three sets: balance, line, reference. A leased job stands in the due
 * index under the generation of the process that leased it, any other under 0. A lease of an older generation belongs
 * to a process that is gone, so raising the generation frees every lease at once, however many there are.
 */
import type { Key } from "../store.ts";

/** The first part of every stored key. */
export type Area =
  | "schema"
  | "generation"
  | "clock"
  | "value"
  | "operation"
  | "balance"
  | "line"
  | "reference"
  | "job"
  | "due";

/** The layout above. A database with a higher number was written by a newer version and is not touched. */
export const SCHEMA = 1;

/** A job as the embedded engine stores it under its kind and ref. */
export interface JobRecord {
  readonly id: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly dueAt: number;
  /** The open of the database whose lease this is; 0: nobody's. */
  readonly generation: number;
}

/** Where a caller's value stands. */
export function valueKey(key: Key): Key {
  return ["value", ...key];
}

/** Where the mark of a named commit stands. */
export function operationKey(operation: string): Key {
  return ["operation", operation];
}

/** Where an account's money stands. */
export function balanceKey(account: string): Key {
  return ["balance", account];
}

/** Where a ledger line stands. */
export function ledgerEntryKey(account: string, id: string): Key {
  return ["line", account, id];
}

/** The id of the `n`th ledger line of an account: sorts as text by the order of commits. */
export function ledgerEntryIdOf(n: number): string {
  return n.toString().padStart(15, "0");
}

/** Where it is noted that a ledger line was written. */
export function referenceKey(operation: string, reference: string): Key {
  return ["reference", operation, reference];
}

/** Where a job's record stands. */
export function jobKey(kind: string, ref: string): Key {
  return ["job", kind, ref];
}

/** Where a job stands in the index of due times. */
export function dueKey(kind: string, record: JobRecord): Key {
  return ["due", kind, record.generation, record.dueAt, record.id];
}

/**
 * A key as text of one character per byte, whose plain comparison is the order of keys: part by part, numbers before
 * text, text by code point. The encoding of a key's first parts is the beginning of the key's own.
 *
 * @throws {RangeError} If a number is not finite, or a text has half a surrogate pair, which engines would replace.
 */
export function encodeKey(key: Key): string {
  let encoded = "";
  for (const part of key) encoded += typeof part === "number" ? encodeNumber(part) : encodeText(part);
  return encoded;
}

/** {@linkcode encodeKey}, or null for a key that can never have been written as it is malformed or too long. */
export function encodeStorableKey(key: Key, maxKeyBytes: number): string | null {
  try {
    const encoded = encodeKey(key);
    return encoded.length > maxKeyBytes ? null : encoded;
  } catch {
    return null;
  }
}

/** Whether an encoded key lies below an encoded prefix, which it is not itself. */
export function isBelow(encoded: string, prefix: string): boolean {
  // 0xff behind the prefix means that the zero at its end is part of a longer text, not the end of its last part.
  return encoded.length > prefix.length && encoded.startsWith(prefix) && encoded[prefix.length] !== "\xff";
}

/** A key in the form of Deno KV, where bytes come before text and numbers behind it: so numbers go as bytes. */
export function kvKeyOf(key: Key): Deno.KvKey {
  return key.map((part) => typeof part === "number" ? bytesOfNumber(part) : part);
}

/** The inverse of {@linkcode kvKeyOf}. */
export function keyOfKv(key: Deno.KvKey): Key {
  return key.map((part) => part instanceof Uint8Array ? numberOfBytes(part) : String(part));
}

function encodeNumber(number: number): string {
  if (!Number.isFinite(number)) throw new RangeError(`Cannot use ${number} in a key: expected a finite number`);
  fillScratch(number);
  const [a, b, c, d, e, f, g, h] = SCRATCH;
  return String.fromCharCode(1, a, b, c, d, e, f, g, h);
}

// The terminator 0x00 sorts a text before its own continuations; a 0x00 inside is followed by 0xff to tell the two
// apart.
function encodeText(text: string): string {
  if (PLAIN_ASCII.test(text)) return `\x02${text}\x00`;
  if (!text.isWellFormed()) throw new RangeError("Cannot use a text in a key as it has half a surrogate pair");
  let encoded = "\x02";
  for (const byte of new TextEncoder().encode(text)) encoded += byte === 0 ? "\x00\xff" : String.fromCharCode(byte);
  return encoded + "\x00";
}

const PLAIN_ASCII = /^[ -~]*$/;

const SCRATCH = new Uint8Array(8);
const SCRATCH_VIEW = new DataView(SCRATCH.buffer);

// IEEE 754 big-endian sorts as bytes once the sign bit of positive numbers and every bit of negative ones is flipped.
function fillScratch(number: number): void {
  SCRATCH_VIEW.setFloat64(0, number + 0);
  flip(SCRATCH, SCRATCH[0] >= 0x80);
}

function bytesOfNumber(number: number): Uint8Array {
  fillScratch(number);
  return SCRATCH.slice();
}

function numberOfBytes(stored: Uint8Array): number {
  SCRATCH.set(stored);
  flip(SCRATCH, SCRATCH[0] < 0x80);
  return SCRATCH_VIEW.getFloat64(0);
}

function flip(bytes: Uint8Array, negative: boolean): void {
  if (!negative) {
    bytes[0] ^= 0x80;
    return;
  }
  for (let i = 0; i < bytes.length; i++) bytes[i] ^= 0xff;
}
