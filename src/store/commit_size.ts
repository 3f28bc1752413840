import { serialize } from "node:v8";
import { cloneValue } from "./clone_value.ts";
import { encodeKey } from "./kv/keys.ts";
import type { Commit, Key, StoreLimits } from "./store.ts";

/**
 * The most that the embedded engine takes. Deno KV's own limits are 65,536 bytes a value, 2,048 a key, 100 checks, 1,000
 * mutations, 819,200 bytes and 81,920 bytes of keys an atomic write, and 10 keys a read. The difference is room for what this
 * engine adds to each.
 */
export const KV_LIMITS: StoreLimits = {
  maxValueBytes: 60 * 1024,
  maxKeyBytes: 1024,
  maxChecks: 100,
  maxWrites: 900,
  maxCommitBytes: 700 * 1024,
  maxCommitKeyBytes: 72 * 1024,
  maxKeysPerRead: 10,
};

/** What a commit, or several taken together, asks of the engine. */
export interface CommitSize {
  /** Different keys read for the decision, each checked again when it is written. */
  readonly checks: number;
  /** Sets, deletes and alarms. */
  readonly writes: number;
  /** Bytes of keys and values. */
  readonly bytes: number;
  /** Bytes of keys alone. */
  readonly keyBytes: number;
}

/** Two weights together. */
export function addSizes(a: CommitSize, b: CommitSize): CommitSize {
  return {
    checks: a.checks + b.checks,
    writes: a.writes + b.writes,
    bytes: a.bytes + b.bytes,
    keyBytes: a.keyBytes + b.keyBytes,
  };
}

/** Whether one write of an engine takes that much. */
export function fits(weight: CommitSize, limits: StoreLimits): boolean {
  return weight.checks <= limits.maxChecks && weight.writes <= limits.maxWrites &&
    weight.bytes <= limits.maxCommitBytes && weight.keyBytes <= limits.maxCommitKeyBytes;
}

/** A commit whose values nobody else holds any more, and what it weighs at most. */
export interface MeasuredCommit {
  readonly commit: Commit;
  readonly size: CommitSize;
}

// What the engine's layout adds to the parts that a caller named, at most.
const VALUE_KEY_BYTES = 16;
const RECORD_KEY_BYTES = 72;
const RECORD_BYTES = 128;

/**
 * Copies a commit, so that its caller may go on changing the values, and weighs it.
 *
 * @throws {RangeError} If a value, a key or the whole is larger than the engine takes.
 * @throws {TypeError} If a value has no structured clone.
 */
export function measureCommit(operation: string | null, commit: Commit, limits: StoreLimits): MeasuredCommit {
  const scale = new Scale(limits);
  if (operation !== null) scale.record(1, [operation]);
  for (const { key } of commit.check ?? []) scale.check(key);
  const set = commit.set?.map((entry) => {
    scale.value(entry.key);
    return { ...entry, key: [...entry.key], value: scale.copy(entry.value) };
  });
  for (const key of commit.delete ?? []) scale.value(key);
  for (const move of commit.changeBalances ?? []) scale.record(1, [move.account]);
  const ledger = commit.ledgerEntries?.map((entry) => {
    scale.record(1, [entry.account]);
    scale.record(1, [entry.operation, entry.reference]);
    return entry.detail === undefined ? entry : { ...entry, detail: scale.copy(entry.detail) };
  });
  for (const { kind, ref, dueAt } of commit.addJobs ?? []) scale.record(3, [kind, ref, dueAt]);
  for (const { kind, ref } of commit.completeJobs ?? []) scale.record(2, [kind, ref]);
  for (const { job, dueAt } of commit.postponeJobs ?? []) scale.record(4, [job.kind, job.ref, dueAt]);
  const weight = scale.weight();
  if (!fits(weight, limits)) {
    throw new RangeError(
      `Cannot make a commit this large: ${weight.checks} checks (at most ${limits.maxChecks}), ` +
        `${weight.writes} writes (at most ${limits.maxWrites}), ${weight.bytes} bytes (at most ${limits.maxCommitBytes}), ` +
        `${weight.keyBytes} bytes of keys (at most ${limits.maxCommitKeyBytes})`,
    );
  }
  return { commit: { ...commit, ...(set && { set }), ...(ledger && { ledgerEntries: ledger }) }, size: weight };
}

class Scale {
  readonly #limits: StoreLimits;
  readonly #touched = new Set<string>();
  #mutations = 0;
  #bytes = 0;
  #keyBytes = 0;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  check(key: Key): void {
    this.#touched.add(this.#encoded(key));
  }

  /** Counts a key of a caller that is set or deleted. */
  value(key: Key): void {
    this.write(this.#encoded(key).length + VALUE_KEY_BYTES, 0);
  }

  /** Counts a record of the engine's own, known by these parts, and the index entries beside it. */
  record(mutations: number, parts: Key): void {
    const encoded = this.#encoded(parts);
    this.#touched.add(`record ${encoded}`);
    for (let i = 0; i < mutations; i++) this.write(encoded.length + RECORD_KEY_BYTES, RECORD_BYTES);
  }

  write(keyBytes: number, valueBytes: number): void {
    this.#mutations++;
    this.#keyBytes += keyBytes;
    this.#bytes += keyBytes + valueBytes;
  }

  /** Copies what a caller gave, and counts it. */
  copy(value: unknown): unknown {
    const { copy, bytes } = copyOf(value);
    const { maxValueBytes } = this.#limits;
    if (bytes > maxValueBytes) {
      throw new RangeError(`Cannot store a value of ${bytes} bytes: the limit is ${maxValueBytes}`);
    }
    this.#bytes += bytes;
    return copy;
  }

  #encoded(key: Key): string {
    const encoded = encodeKey(key);
    const { maxKeyBytes } = this.#limits;
    if (encoded.length > maxKeyBytes) {
      throw new RangeError(`Cannot use a key of ${encoded.length} bytes: the limit is ${maxKeyBytes}`);
    }
    return encoded;
  }

  weight(): CommitSize {
    return { checks: this.#touched.size, writes: this.#mutations, bytes: this.#bytes, keyBytes: this.#keyBytes };
  }
}

function copyOf(value: unknown): { copy: unknown; bytes: number } {
  try {
    const copy = cloneValue(value);
    const bytes = estimateBytes(copy);
    return { copy, bytes: bytes <= SMALL_BYTES ? bytes : serialize(copy).byteLength };
  } catch (error) {
    // Too deep a nesting overflows the stack of whoever walks it.
    if (error instanceof RangeError) {
      throw new RangeError("Cannot store a value that is nested too deep", { cause: error });
    }
    throw new TypeError("Cannot store a value that has no structured clone", { cause: error });
  }
}

// Serialising a value only to learn its size costs four times what copying it does, and most values are small.
const SMALL_BYTES = 16 * 1024;
const DEEPEST = 16;

/**
 * How many bytes a value takes serialised, roughly and rather too many; `Infinity` for what only the serialiser can
 * tell. Texts that the engine happens to hold at two bytes a character take up to twice as many: the distance of the
 * limits covers them.
 */
export function estimateBytes(value: unknown, depth = 0): number {
  if (typeof value === "string") {
    return 8 + (value.length < SHORT_TEXT || BEYOND_LATIN1.test(value) ? 2 : 1) * value.length;
  }
  if (typeof value === "bigint") return 8 + value.toString(16).length / 2;
  if (typeof value !== "object" || value === null) return 10;
  if (value instanceof Uint8Array) return 24 + value.byteLength;
  if (depth === DEEPEST) return Infinity;
  let bytes = 12;
  if (Array.isArray(value)) {
    for (const item of value) bytes += estimateBytes(item, depth + 1);
    return bytes;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return Infinity;
  for (const [name, field] of Object.entries(value)) bytes += estimateBytes(name) + estimateBytes(field, depth + 1);
  return bytes;
}

/** Up to here it is not worth looking what characters there are. */
const SHORT_TEXT = 64;
// deno-lint-ignore no-control-regex -- the range is that of one-byte texts
const BEYOND_LATIN1 = /[^\x00-\xff]/;
