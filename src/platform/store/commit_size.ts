import { serialize } from "node:v8";
import { cloneValue } from "./clone_value.ts";
import { encodeKey } from "./key_encoding.ts";
import type { Commit, Key, StoreLimits } from "./store.ts";

/** The size of one commit, or of several together, in the units of {@linkcode StoreLimits}. */
export interface CommitSize {
  /** Different keys that are read for the decision. Each is checked again when the commit is written. */
  readonly checks: number;
  /** Sets, deletes and queue messages. */
  readonly writes: number;
  /** Bytes of keys and values. */
  readonly bytes: number;
  /** Bytes of keys alone. */
  readonly keyBytes: number;
}

/** The sum of two sizes. */
export function addSizes(a: CommitSize, b: CommitSize): CommitSize {
  return {
    checks: a.checks + b.checks,
    writes: a.writes + b.writes,
    bytes: a.bytes + b.bytes,
    keyBytes: a.keyBytes + b.keyBytes,
  };
}

/** Whether one write of an engine takes this size. */
export function fits(size: CommitSize, limits: StoreLimits): boolean {
  return size.checks <= limits.maxChecks && size.writes <= limits.maxWrites &&
    size.bytes <= limits.maxCommitBytes && size.keyBytes <= limits.maxCommitKeyBytes;
}

/** A commit with copied values and its largest possible size. */
export interface MeasuredCommit {
  readonly commit: Commit;
  readonly size: CommitSize;
}

// The most that an engine's layout adds to the parts that a caller names.
const VALUE_KEY_BYTES = 16;
const RECORD_KEY_BYTES = 72;
const RECORD_BYTES = 128;

/**
 * Copies a commit, so that later changes by its caller have no effect, and measures it.
 *
 * @throws {RangeError} If a value, a key or the whole commit exceeds the limits.
 * @throws {TypeError} If a value has no structured clone.
 */
export function measureCommit(operation: string | null, commit: Commit, limits: StoreLimits): MeasuredCommit {
  const measurer = new Measurer(limits);
  if (operation !== null) measurer.addRecord(1, [operation]);
  for (const { key } of commit.check ?? []) measurer.addCheck(key);
  const set = commit.set?.map((entry) => {
    measurer.addValueKey(entry.key);
    return { ...entry, key: [...entry.key], value: measurer.copy(entry.value) };
  });
  for (const key of commit.delete ?? []) measurer.addValueKey(key);
  for (const change of commit.changeBalances ?? []) measurer.addRecord(1, [change.account]);
  for (const { account } of commit.setOverdrafts ?? []) measurer.addRecord(1, [account]);
  const ledgerEntries = commit.ledgerEntries?.map((entry) => {
    measurer.addRecord(1, [entry.account]);
    measurer.addRecord(1, [entry.operation, entry.reference]);
    return entry.detail === undefined ? entry : { ...entry, detail: measurer.copy(entry.detail) };
  });
  for (const { kind, ref, dueAt } of commit.addJobs ?? []) measurer.addRecord(3, [kind, ref, dueAt]);
  for (const { kind, ref } of commit.completeJobs ?? []) measurer.addRecord(2, [kind, ref]);
  for (const { job, dueAt } of commit.postponeJobs ?? []) measurer.addRecord(4, [job.kind, job.ref, dueAt]);
  const size = measurer.size();
  if (!fits(size, limits)) throw tooLarge(size, limits);
  return { commit: { ...commit, ...(set && { set }), ...(ledgerEntries && { ledgerEntries }) }, size };
}

function tooLarge({ checks, writes, bytes, keyBytes }: CommitSize, limits: StoreLimits): RangeError {
  const { maxChecks, maxWrites, maxCommitBytes, maxCommitKeyBytes } = limits;
  return new RangeError(
    `Cannot make a commit this large: ${checks} checks (at most ${maxChecks}), ${writes} writes (at most ${maxWrites}), ` +
      `${bytes} bytes (at most ${maxCommitBytes}), ${keyBytes} bytes of keys (at most ${maxCommitKeyBytes})`,
  );
}

class Measurer {
  readonly #limits: StoreLimits;
  readonly #checked = new Set<string>();
  #writes = 0;
  #bytes = 0;
  #keyBytes = 0;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  addCheck(key: Key): void {
    this.#checked.add(this.#encoded(key));
  }

  /** Counts a caller's key that is set or deleted. */
  addValueKey(key: Key): void {
    this.#addWrite(this.#encoded(key).length + VALUE_KEY_BYTES, 0);
  }

  /** Counts a record of the engine with these parts in its key, and the index entries of the record. */
  addRecord(writes: number, parts: Key): void {
    const encoded = this.#encoded(parts);
    this.#checked.add(`record ${encoded}`);
    for (let i = 0; i < writes; i++) this.#addWrite(encoded.length + RECORD_KEY_BYTES, RECORD_BYTES);
  }

  /** Copies a caller's value and counts its bytes. */
  copy(value: unknown): unknown {
    const { copy, bytes } = copyOf(value);
    const { maxValueBytes } = this.#limits;
    if (bytes > maxValueBytes) {
      throw new RangeError(`Cannot store a value of ${bytes} bytes: the limit is ${maxValueBytes}`);
    }
    this.#bytes += bytes;
    return copy;
  }

  size(): CommitSize {
    return { checks: this.#checked.size, writes: this.#writes, bytes: this.#bytes, keyBytes: this.#keyBytes };
  }

  #addWrite(keyBytes: number, valueBytes: number): void {
    this.#writes++;
    this.#keyBytes += keyBytes;
    this.#bytes += keyBytes + valueBytes;
  }

  #encoded(key: Key): string {
    const encoded = encodeKey(key);
    const { maxKeyBytes } = this.#limits;
    if (encoded.length > maxKeyBytes) {
      throw new RangeError(`Cannot use a key of ${encoded.length} bytes: the limit is ${maxKeyBytes}`);
    }
    return encoded;
  }
}

function copyOf(value: unknown): { copy: unknown; bytes: number } {
  try {
    const copy = cloneValue(value);
    const bytes = estimateBytes(copy);
    return { copy, bytes: bytes <= SMALL_BYTES ? bytes : serialize(copy).byteLength };
  } catch (error) {
    // A value that is nested too deep overflows the stack.
    if (error instanceof RangeError) {
      throw new RangeError("Cannot store a value that is nested too deep", { cause: error });
    }
    throw new TypeError("Cannot store a value that has no structured clone", { cause: error });
  }
}

// Serialising a value only to learn its size costs four times as much as copying it, and most values are small.
const SMALL_BYTES = 16 * 1024;
const MAX_DEPTH = 16;

/**
 * Estimates the serialised size of a value, mostly from above; `Infinity` when only the serialiser can tell. The
 * platform may hold a text at two bytes a character and then takes up to twice the estimate: the margin of the limits
 * covers that.
 */
export function estimateBytes(value: unknown, depth = 0): number {
  if (typeof value === "string") {
    return 8 + (value.length < SHORT_TEXT_CHARACTERS || NON_LATIN1.test(value) ? 2 : 1) * value.length;
  }
  if (typeof value === "bigint") return 8 + value.toString(16).length / 2;
  if (typeof value !== "object" || value === null) return 10;
  if (value instanceof Uint8Array) return 24 + value.byteLength;
  if (depth === MAX_DEPTH) return Infinity;
  let bytes = 12;
  if (Array.isArray(value)) {
    for (const item of value) bytes += estimateBytes(item, depth + 1);
    return bytes;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return Infinity;
  for (const [name, field] of Object.entries(value)) bytes += estimateBytes(name) + estimateBytes(field, depth + 1);
  return bytes;
}

/** Up to this length the characters are not examined. */
const SHORT_TEXT_CHARACTERS = 64;
// deno-lint-ignore no-control-regex -- the range is that of one-byte texts
const NON_LATIN1 = /[^\x00-\xff]/;
