import { Buffer } from "node:buffer";
import { serialize } from "node:v8";
import { measureCommit } from "../commit_size.ts";
import { encodeKey } from "../key_encoding.ts";
import { type Commit, type CommitResult, type Job, OPERATION_TTL_MS } from "../store.ts";
import type { DueTime } from "../wake_listeners.ts";
import { POSTGRES_LIMITS } from "./limits.ts";

/** A commit as the function `commit_v1` of the database takes it. */
export interface CommitText {
  /** JSON. Keys and values are base64. */
  readonly json: string;
  /** What is locked for it, in base64. Commits without a common name can be made in any order. */
  readonly names: ReadonlySet<string>;
  /** The jobs that it makes due. */
  readonly due: readonly DueTime[];
  /** The number of completed jobs: the refused index of a postponed job counts from it. */
  readonly completed: number;
}

/** The result for one commit, as the database gives it. */
export type ResultRow =
  | { readonly replayed: true }
  | { readonly versions: readonly string[] }
  | { readonly why: "conflict" | "short" | "fenced" | "duplicate"; readonly at: number };

/**
 * Writes a commit as JSON. Its values are copied at once.
 *
 * @param newJobId Returns an id for a new job.
 * @throws {RangeError} If a value, a key or the whole commit exceeds the limits, or an overdraft is negative.
 * @throws {TypeError} If a value has no structured clone.
 */
export function commitText(operation: string | null, original: Commit, newJobId: () => string): CommitText {
  const { commit } = measureCommit(operation, original, POSTGRES_LIMITS);
  const writer = new Writer();
  const { check, set, changeBalances, setOverdrafts, ledgerEntries, addJobs, completeJobs = [], postponeJobs = [] } =
    commit;
  const ended = [
    ...completeJobs.map((job) => [...writer.job(job), null, null]),
    ...postponeJobs.map(({ job, dueAt, attempt }) => [...writer.job(job), dueAt, attempt]),
  ];
  const json = JSON.stringify({
    ...(operation !== null && {
      operation: writer.name("operation", encodeKey([operation])),
      operationTtlMs: OPERATION_TTL_MS,
    }),
    ...part("check", check?.map(({ key, version }) => [writer.name("value", encodeKey(key)), version])),
    ...part(
      "set",
      set?.map(({ key, value, ttlMs = null }) => [writer.name("value", encodeKey(key)), valueText(value), ttlMs]),
    ),
    ...part("delete", commit.delete?.map((key) => writer.name("value", encodeKey(key)))),
    ...part(
      "balances",
      changeBalances?.map(({ account, available, held, overdraw = false }) => {
        return [writer.name("account", encodeKey([account])), String(available), String(held), overdraw];
      }),
    ),
    ...part(
      "overdrafts",
      setOverdrafts?.map(({ account, overdraft }) => {
        if (overdraft < 0n) throw new RangeError(`Cannot set an overdraft below zero: got ${overdraft}`);
        return [writer.name("account", encodeKey([account])), String(overdraft)];
      }),
    ),
    ...part(
      "ledger",
      ledgerEntries?.map(({ account, operation, reference, available, held, detail }) => [
        writer.name("account", encodeKey([account])),
        writer.name("reference", encodeKey([operation, reference])),
        String(available),
        String(held),
        detail === undefined ? null : valueText(detail),
      ]),
    ),
    ...part("ended", ended),
    ...part(
      "jobs",
      addJobs?.map(({ kind, ref, dueAt }) => {
        return [writer.name("job", encodeKey([kind, ref])), btoa(encodeKey([kind])), newJobId(), dueAt];
      }),
    ),
  });
  const due = [
    ...(addJobs ?? []).map(({ kind, dueAt }) => ({ kind, dueAt })),
    ...postponeJobs.map(({ job: { kind }, dueAt }) => ({ kind, dueAt })),
  ];
  return { json, names: writer.names, due, completed: completeJobs.length };
}

/** The result of a commit. */
export function commitResultOf(row: ResultRow, { completed }: CommitText): CommitResult {
  if ("replayed" in row) return { ok: true, replayed: true };
  if ("versions" in row) return { ok: true, replayed: false, versions: row.versions };
  const { why, at } = row;
  return { ok: false, why, at: why === "fenced" && at >= completed ? at - completed : at };
}

class Writer {
  readonly names = new Set<string>();

  /** The base64 of an encoded key, whose lock the commit takes. */
  name(space: string, encoded: string): string {
    const text = btoa(encoded);
    this.names.add(`${space} ${text}`);
    return text;
  }

  job({ kind, ref, id, epoch }: Job): (string | number)[] {
    return [this.name("job", encodeKey([kind, ref])), id, epoch];
  }
}

function part(name: string, list: readonly unknown[] | undefined): Record<string, readonly unknown[]> {
  return list === undefined || list.length === 0 ? {} : { [name]: list };
}

function valueText(value: unknown): string {
  const bytes = serialize(value);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
