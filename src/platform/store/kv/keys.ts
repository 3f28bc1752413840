/**
 * The keys of the Deno KV engine.
 *
 * | key | value | written by |
 * |---|---|---|
 * | `schema` | number | the first open |
 * | `generation` | number, one higher at every open | open |
 * | `clock` | Unix milliseconds: the clock when due times were last written | addJobs, postponeJobs, claim, renew |
 * | `value` … the caller's key | `[value]` or `[value, expiresAt]` | set, delete |
 * | `operation` name | `expiresAt` | a commit with an operation name |
 * | `balance` account | `[available, held, lines, overdraft?]` | changeBalances, setOverdrafts, ledgerEntries |
 * | `line` account, number | `[operation, reference, available, held, at, detail]` | ledgerEntries |
 * | `reference` operation, reference | `true`: this ledger entry exists | ledgerEntries |
 * | `job` kind, ref | {@linkcode JobRecord} | addJobs, completeJobs, postponeJobs, claim, renew |
 * | `due` kind, generation, dueAt, id | ref | the same: every job has exactly one |
 *
 * A charge of one balance change and one ledger entry is three sets: balance, line, reference. The due index lists a
 * leased job under the generation of the process that leased it, and any other job under 0. A lease of an older
 * generation belongs to a process that has ended, so a higher generation ends all older leases at once.
 */
import { bytesOfNumber, numberOfBytes } from "../key_encoding.ts";
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

/**
 * The version of what is stored. A database with a higher number was written by a newer version and is not opened. That
 * version may restrict callers, or keep money, in a way that this one does not read. So a new field that restricts, or
 * a new home of money, raises it.
 *
 * 1: accounts, keys, holds and the ledger. 2: limits, budgets and expiries of keys and accounts; overdrafts.
 */
export const SCHEMA = 2;

/** Whether a version that knows a schema may open a database with another one; null for a new database. */
export function isSchemaKnown(found: number | null, known: number = SCHEMA): boolean {
  return found === null || found <= known;
}

/** A job as it is stored under its kind and ref. */
export interface JobRecord {
  readonly id: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly dueAt: number;
  /** The generation of the process that holds the lease; 0 for no lease. */
  readonly generation: number;
}

/** The key of a caller's value. */
export function valueKey(key: Key): Key {
  return ["value", ...key];
}

/** The key of an operation name. */
export function operationKey(operation: string): Key {
  return ["operation", operation];
}

/** The key of an account's balance. */
export function balanceKey(account: string): Key {
  return ["balance", account];
}

/** The key of a ledger entry. */
export function ledgerEntryKey(account: string, id: string): Key {
  return ["line", account, id];
}

/** The key that marks a ledger entry's operation and reference as used. */
export function referenceKey(operation: string, reference: string): Key {
  return ["reference", operation, reference];
}

/** The key of a job's record. */
export function jobKey(kind: string, ref: string): Key {
  return ["job", kind, ref];
}

/** The key of a job in the index of due times. */
export function dueKey(kind: string, record: JobRecord): Key {
  return ["due", kind, record.generation, record.dueAt, record.id];
}

/**
 * A key as Deno KV takes it. Deno KV sorts bytes before text and numbers after it, so numbers are written as bytes.
 */
export function kvKeyOf(key: Key): Deno.KvKey {
  return key.map((part) => typeof part === "number" ? bytesOfNumber(part) : part);
}

/** The inverse of {@linkcode kvKeyOf}. */
export function keyOfKv(key: Deno.KvKey): Key {
  return key.map((part) => part instanceof Uint8Array ? numberOfBytes(part) : String(part));
}
