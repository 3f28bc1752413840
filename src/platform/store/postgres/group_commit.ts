import { holdState } from "../../lib/basics/held.ts";
import type { CommitResult } from "../store.ts";
import { StoreWriteError } from "../store_errors.ts";
import { WriteMetrics } from "../store_metrics.ts";
import { commitResultOf, type CommitText, type ResultRow } from "./commit_text.ts";
import { codeOf, type Database, isLost, reasonOf, repeated } from "./database.ts";

/** What {@linkcode GroupCommit} needs. */
export interface GroupCommitOptions {
  readonly sql: Database;
  /** The time for the statement; null if the server reads its own clock. */
  readonly timeParameter: () => number | null;
  /** Called after each write, with the error if it failed. */
  readonly onWrite: (error: unknown) => void;
}

/** The names that one transaction locks one by one; the server has room for about 6,400 of all transactions. */
const MAX_NAMES = 200;
const MAX_COMMITS = 100;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Transactions under way. Further commits wait, and then share one. */
const MAX_TRANSACTIONS = 3;

interface Waiting {
  readonly text: CommitText;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes commits in few transactions: those that wait while others are under way share the next one, and one statement.
 * Commits with a common name are made in the order in which they came.
 */
export class GroupCommit {
  readonly metrics = new WriteMetrics();
  readonly #options: GroupCommitOptions;
  #waiting: Waiting[] = [];
  /** The names of the transactions under way. */
  readonly #busy = new Set<string>();
  #transactions = 0;
  #isStarting = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Makes a commit. @throws {StoreWriteError} As a rejection: what was written is unknown. */
  submit(text: CommitText): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      // Commits of one turn of the event loop share a transaction.
      if (this.#isStarting) return;
      this.#isStarting = true;
      queueMicrotask(() => this.#start());
    });
  }

  /** Resolves when no commit waits or is under way. */
  idle(): Promise<void> {
    if (this.#transactions === 0 && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #start(): void {
    this.#isStarting = false;
    while (this.#transactions < MAX_TRANSACTIONS) {
      const batch = this.#takeBatch();
      if (batch.length === 0) break;
      const names = batch.flatMap(({ text }) => [...text.names]);
      for (const name of names) this.#busy.add(name);
      this.#transactions++;
      const made = this.#make(batch).finally(() => {
        for (const name of names) this.#busy.delete(name);
        this.#transactions--;
        this.#start();
      });
      holdState(made, "commits");
    }
    if (this.#transactions > 0 || this.#waiting.length > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Takes the commits that no earlier one with a common name is before, as far as they fit into a transaction. */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const names = new Set<string>();
    const passed = new Set<string>();
    const left: Waiting[] = [];
    let characters = 0;
    for (const one of this.#waiting) {
      const { text } = one;
      const isFree = isDisjoint(text.names, this.#busy) && isDisjoint(text.names, passed);
      const isFull = batch.length > 0 &&
        (batch.length >= MAX_COMMITS || names.size + text.names.size > MAX_NAMES ||
          characters + text.json.length > MAX_CHARACTERS);
      if (isFree && !isFull) {
        batch.push(one);
        for (const name of text.names) names.add(name);
        characters += text.json.length;
      } else {
        left.push(one);
        for (const name of text.names) passed.add(name);
      }
    }
    this.#waiting = left;
    return batch;
  }

  async #make(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = await this.#write(batch);
      batch.forEach(({ text, resolve, reject }, i) => {
        const row = rows[i];
        if (row) resolve(commitResultOf(row, text));
        else reject(new StoreWriteError(new Error("the database returned no result of the commit")));
      });
    } catch (error) {
      // The server rolled everything back, and one commit may be the cause for all.
      if (batch.length > 1 && isRolledBack(error)) {
        for (const one of batch) await this.#make([one]);
        return;
      }
      const reason = new StoreWriteError(new Error(reasonOf(error)));
      for (const { reject } of batch) reject(reason);
    }
  }

  async #write(batch: readonly Waiting[]): Promise<readonly ResultRow[]> {
    const names = new Set(batch.flatMap(({ text }) => [...text.names]));
    const json = `{"now":${JSON.stringify(this.#options.timeParameter())},` +
      (names.size > MAX_NAMES ? "" : `"names":${JSON.stringify([...names])},`) +
      `"commits":[${batch.map(({ text }) => text.json).join(",")}]}`;
    const startedAt = performance.now();
    try {
      const rows = await repeated(() =>
        this.#options.sql`select switchyard.commit_v1(${json}::text::jsonb) as results`
      );
      this.metrics.noteWrite(performance.now() - startedAt, batch.length);
      this.#options.onWrite(null);
      return rows[0]?.results ?? [];
    } catch (error) {
      this.metrics.noteFailure();
      if (!isOfOneCommit(error)) this.#options.onWrite(new Error(reasonOf(error)));
      throw error;
    }
  }
}

function isDisjoint(names: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  if (others.size === 0) return true;
  for (const name of names) if (others.has(name)) return false;
  return true;
}

/** An answer of the server with an SQLSTATE: then the transaction was rolled back. */
function isRolledBack(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && !isLost(error);
}

/** Data exceptions and exceeded limits: the server works, and other commits succeed. */
function isOfOneCommit(error: unknown): boolean {
  return /^(22|23|54)/.test(codeOf(error)) && isRolledBack(error);
}
