import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import { changedEngine } from "../../../platform/store/changed_store.ts";
import { TurnPace } from "../../../platform/lib/streams/turn_pace.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";
import type { JobRunner } from "../../../platform/store/job_runner.ts";
import type { CommitResult, Key, Store } from "../../../platform/store/store.ts";
import { allAccounts } from "../accounts/account.ts";
import { changedValues, UsageBatch } from "./usage_batch.ts";
import {
  accountHeldKey,
  accountSpentOf,
  DAY_MS,
  keyHeldKey,
  keySpentOf,
  type UsageCursor,
  usageCursorKey,
  usageDayKey,
} from "./usage_records.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const copyDaysModule = new Late(() => import("./copy_days.ts"));

/** The dependencies of a usage rollup. */
export interface UsageRollupParts {
  /** Whose ledger is summed, and which has the sums. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the accounts that other processes charged too. Default: there are none. */
  readonly chargedAccounts?: StoreEngine["chargedAccounts"];
}

/** The amounts of one account, or of one key, in its ledger. */
export interface LedgerSpent {
  /** Charges and captures since a time. */
  readonly charged: Money;
  /** Holds that are open now, of any time. */
  readonly held: Money;
}

/** Time between two passes over the accounts with new ledger entries. A query does not wait for it. */
const PASS_EVERY_MS = 60_000;
/** Ledger entries of one read. Each may have 200 rows. */
const ENTRIES_PER_STEP = 32;
/**
 * An entry changes up to 600 values more and removes up to 200 copies of days, so that a commit stays within the limits
 * of every store.
 */
const MAX_CHANGES_PER_STEP = 90;
/** The longest time without a pause for other work. */
const SLICE_MS = 8;
const SCAN_PAGE = 500;

/**
 * Usage by account, UTC day, key, model, provider and kind, added up from the ledger. It is not written with each
 * charge: a later pass reads the entries after a cursor, and writes the new sums and the cursor in one commit. So an
 * entry is counted exactly once, whatever ends the process.
 *
 *     entry → its account is marked → the next pass, at most a minute later, or a query → counted
 *
 * All accounts are marked at the start, because the last process may have ended between an entry and its pass. What
 * other processes have charged is found by the times of the entries.
 */
export class UsageRollup {
  /** Accounts that may have entries after their cursor. */
  readonly #marked = new Set<string>();
  readonly #passes = new Set<Promise<void>>();
  /** Days whose records were changed, and which may have no copy. */
  readonly #changedDays = new Set<number>();
  /** The day until which all earlier days were looked at. */
  #copiedUntil = -1;
  #firstPass: Promise<void> | null = null;
  #isFirstPassDone = false;
  #isStopped = false;
  /** Until when entries by other processes were found; null before the first pass. */
  #lookedUntil: number | null = null;

  constructor(private readonly parts: UsageRollupParts) {}

  /** Must be called after entries were added to an account's ledger. */
  mark(account: string): void {
    this.#marked.add(account);
  }

  /**
   * Counts all entries of an account's ledger that were committed before this call.
   *
   * @throws {StoreWriteError} If the store takes no writes.
   */
  fold(account: string): Promise<void> {
    return this.#count(account, () => false);
  }

  /**
   * Counts all entries of all ledgers that were committed before this call. The first call of a process reads every
   * account, so over a store without sums it takes as long as a read of the whole ledger.
   *
   * @throws {StoreWriteError} If the store takes no writes.
   * @throws {GatewayError} `overloaded` if the process stops meanwhile.
   */
  async foldAll(): Promise<void> {
    await this.#passOnce();
    if (!this.#isFirstPassDone) throw new GatewayError("overloaded", "Cannot sum the usage: the gateway is stopping");
    await this.#markChargedByOthers();
    await Promise.all([this.#passOver([...this.#marked]), ...this.#passes]);
  }

  /** Whether every account was read once, so that {@linkcode UsageRollup.foldAll} is quick. */
  get isReady(): boolean {
    return this.#isFirstPassDone;
  }

  /**
   * What an account or one of its keys has spent by the ledger, exactly, up to this call. Charges that are not in the
   * ledger yet, because they wait in the journal, are not included.
   *
   * @param key Null for all keys of the account.
   * @param since Unix milliseconds, the start of a UTC day; 0 for all time.
   * @throws {RangeError} If `since` is within a day.
   * @throws {StoreWriteError} If the store takes no writes.
   */
  async spentSince(account: string, key: string | null, since: number): Promise<LedgerSpent> {
    if (since % DAY_MS !== 0) {
      throw new RangeError(`Cannot sum what was spent since ${since}: expected the start of a day`);
    }
    await this.fold(account);
    const { store } = this.parts;
    const prefix = key === null ? accountSpentOf(account) : keySpentOf(account, key);
    const [held] = await store.get<Money>([key === null ? accountHeldKey(account) : keyHeldKey(account, key)]);
    let charged = 0n;
    for await (const amount of amountsFrom(store, prefix, since / DAY_MS)) charged += amount;
    return { charged, held: held?.value ?? 0n };
  }

  /**
   * Copies the records of past days that have no copy, for reports: see `copy_days.ts`. The first call of a day looks
   * at all days, as another process may have changed them.
   *
   * @throws {StoreWriteError} If the store takes no writes.
   */
  async copyDays(): Promise<void> {
    const { store } = this.parts;
    const today = Math.floor(store.now() / DAY_MS);
    const { copyDay, daysWithoutCopy } = await copyDaysModule.load();
    if (this.#copiedUntil < today) {
      for (const day of await daysWithoutCopy(store, today)) this.#changedDays.add(day);
      this.#copiedUntil = today;
    }
    for (const day of [...this.#changedDays]) {
      if (this.#isStopped) return;
      if (day < today && await copyDay(store, day, pause)) this.#changedDays.delete(day);
    }
  }

  /** Starts the passes: at once over all accounts, then every minute over those with new entries. */
  start(): JobRunner {
    const { clock, log } = this.parts;
    let stopTimer = () => {};
    const pass = async (): Promise<void> => {
      try {
        await this.#passOnce();
        await this.#markChargedByOthers();
        await this.#passOver([...this.#marked]);
        await this.copyDays();
      } catch (error) {
        log.warn("usage_not_summed", { reason: errorName(error) });
      }
      if (!this.#isStopped) stopTimer = clock.after(PASS_EVERY_MS, () => running = pass());
    };
    let running = pass();
    return {
      running: 0,
      drain: async () => {
        this.#isStopped = true;
        stopTimer();
        await running;
      },
    };
  }

  /** Reads every account once in the life of the process. A pass that failed is repeated by the next call. */
  #passOnce(): Promise<void> {
    if (this.#isFirstPassDone) return Promise.resolve();
    return this.#firstPass ??= this.#passOverAll().finally(() => this.#firstPass = null);
  }

  /** Marks the accounts whose ledgers got entries by any process since the last look. */
  async #markChargedByOthers(): Promise<void> {
    const { chargedAccounts } = this.parts;
    if (chargedAccounts === undefined) return;
    const { accounts, until } = await chargedAccounts(this.#lookedUntil);
    for (const account of accounts) this.#marked.add(account);
    this.#lookedUntil = until;
  }

  async #passOverAll(): Promise<void> {
    await this.#markChargedByOthers();
    const pace = new TurnPace();
    for await (const account of allAccounts(this.parts.store)) {
      await pace.note();
      await this.#passOver([account]);
      if (this.#isStopped) return;
    }
    this.#isFirstPassDone = true;
  }

  /** Counts the entries of accounts, one account after the other, until the process stops. */
  #passOver(accounts: readonly string[]): Promise<void> {
    const pass = this.#countAll(accounts);
    this.#passes.add(pass);
    return pass.finally(() => this.#passes.delete(pass));
  }

  async #countAll(accounts: readonly string[]): Promise<void> {
    const pace = new TurnPace();
    for (const account of accounts) {
      await pace.note();
      await this.#count(account, () => this.#isStopped);
    }
  }

  async #count(account: string, isStopped: () => boolean): Promise<void> {
    this.#marked.delete(account);
    try {
      while (await this.#step(account)) {
        if (isStopped()) return void this.#marked.add(account);
        await pause();
      }
    } catch (error) {
      this.#marked.add(account);
      throw error;
    }
  }

  /** An earlier version may have changed the records of any day. */
  async #removeCopies(): Promise<void> {
    const { removeCopies } = await copyDaysModule.load();
    await removeCopies(this.parts.store);
    this.#copiedUntil = -1;
  }

  /** Counts some entries. Returns whether more may be left. */
  async #step(account: string): Promise<boolean> {
    const { store, clock } = this.parts;
    const key = usageCursorKey(account);
    const [cursor] = await store.get<UsageCursor>([key]);
    const after = cursor?.value.entry;
    const isOfEarlierVersion = cursor?.value.removesCopies === undefined && cursor !== null;
    if (isOfEarlierVersion) await this.#removeCopies();
    const entries = await store.ledger(account, { after, limit: ENTRIES_PER_STEP });
    const batch = new UsageBatch(account);
    let counted = after;
    let sliceEndsAt = clock.monotonicMs() + SLICE_MS;
    for (const entry of entries) {
      if (batch.size >= MAX_CHANGES_PER_STEP) break;
      batch.add(entry);
      counted = entry.id;
      if (clock.monotonicMs() < sliceEndsAt) continue;
      await pause();
      sliceEndsAt = clock.monotonicMs() + SLICE_MS;
    }
    if (counted === undefined || (counted === after && !isOfEarlierVersion)) return false;
    const changes = batch.changes();
    const values = changedValues(changes, await store.get(changes.map((change) => change.key)));
    for (const day of batch.days) this.#changedDays.add(day);
    // Refused as a conflict if another pass counted these entries first. The next step reads the new cursor.
    const result = await store.commit(null, {
      check: [{ key, version: cursor?.version ?? null }],
      set: [...values, { key, value: { entry: counted, removesCopies: true } satisfies UsageCursor }],
      delete: [...batch.days].map(usageDayKey),
    });
    return !result.ok || counted !== entries.at(-1)?.id || entries.length === ENTRIES_PER_STEP;
  }
}

/**
 * A store that calls a listener with each account whose ledger got entries, before the commit resolves. Also for a
 * commit that failed, since its outcome can be unknown.
 */
export function markedLedger(engine: StoreEngine, onEntries: (account: string) => void): StoreEngine {
  return changedEngine(engine, {
    commit(operation, commit) {
      const result: Promise<CommitResult> = engine.commit(operation, commit);
      const { ledgerEntries } = commit;
      if (ledgerEntries === undefined || ledgerEntries.length === 0) return result;
      const mark = () => {
        for (const { account } of ledgerEntries) onEntries(account);
      };
      result.then(mark, mark);
      return result;
    },
  });
}

/** Lets other work run. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** The amounts below a prefix from a day on. */
async function* amountsFrom(store: Store, prefix: Key, day: number): AsyncGenerator<Money> {
  let after: Key | undefined = day > 0 ? [...prefix, day - 1] : undefined;
  do {
    const entries = await store.scan<Money>(prefix, { after, limit: SCAN_PAGE });
    for (const { value } of entries) yield value;
    after = entries[SCAN_PAGE - 1]?.key;
  } while (after !== undefined);
}
