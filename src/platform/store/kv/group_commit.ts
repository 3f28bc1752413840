import { holdState } from "../../lib/basics/held.ts";
import { Batch, type Change, type LoadedValue, type Transaction, type VersionOf, WriteSet } from "./transaction.ts";
import { kvKeyOf } from "./keys.ts";
import { addSizes, type CommitSize, fits } from "../commit_size.ts";
import { KV_LIMITS } from "./limits.ts";
import { StoreWriteError } from "../store_errors.ts";
import { WriteMetrics } from "../store_metrics.ts";
import { ValueCache } from "./value_cache.ts";
import type { Version } from "../store.ts";
import type { DueTime } from "../wake_listeners.ts";

/** Adds wake-up messages for the due times of a batch to its write. Returns what to call once the write is durable. */
export type AlarmWriter = (atomic: Deno.AtomicOperation, due: readonly DueTime[]) => () => void;

/** Counts of the work since the engine was opened. */
export interface WriteCounts {
  /** Successful atomic writes. Each is one flush to disk. */
  readonly atomics: number;
  /** Decided transactions. */
  readonly transactions: number;
}

interface Waiting {
  readonly transaction: Transaction<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

const { maxKeysPerRead } = KV_LIMITS;
const ATTEMPTS_ALONE = 5;

/**
 * The only writer of the database. Transactions run in order. Those that arrive while an atomic write is in progress
 * share the next one. Each sees the changes of the transactions before it in the batch. The atomic write checks every
 * version that was read, also for refused transactions. The result is the same as running them one after the other:
 *
 *     collect → decide, absence assumed → write → done
 *                       └ an assumption or a check failed → read the assumed keys, decide again → write → done
 *                                                                         └ a check failed again → each on its own
 */
export class GroupCommit {
  readonly #kv: Deno.Kv;
  readonly #alarms: AlarmWriter;
  readonly #cache = new ValueCache();
  readonly #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  /** Measures the writes. */
  readonly metrics = new WriteMetrics();
  #atomics = 0;
  #transactions = 0;
  #lastWriteFailed = false;
  readonly #onWrite: (refusal: unknown) => void;

  /**
   * @param kv A database without other writers.
   * @param alarms Writes the wake-up messages.
   * @param onWrite Called with null after each successful write, otherwise with the error.
   */
  constructor(kv: Deno.Kv, alarms: AlarmWriter, onWrite: (refusal: unknown) => void = () => {}) {
    this.#kv = kv;
    this.#alarms = alarms;
    this.#onWrite = onWrite;
  }

  /** Counts since the engine was opened. */
  get counts(): WriteCounts {
    return { atomics: this.#atomics, transactions: this.#transactions };
  }

  /** Whether the database refused the last write. */
  get lastWriteFailed(): boolean {
    return this.#lastWriteFailed;
  }

  /** Durable values that are known without a read. */
  get cache(): ValueCache {
    return this.#cache;
  }

  /**
   * Decides a transaction in its turn. Resolves when its writes are durable.
   *
   * @throws {StoreWriteError} If the database refused the write.
   */
  submit<R>(transaction: Transaction<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ transaction, resolve: resolve as (result: unknown) => void, reject });
      if (this.#running !== null) return;
      this.#running = this.#run();
      holdState(this.#running, "commits");
    });
  }

  /** Resolves when no transaction is waiting. */
  async idle(): Promise<void> {
    // Ends when nothing waits: each round commits to the disk.
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // transactions of the same turn of the event loop share the first batch
    // Ends when nothing waits: each round commits to the disk.
    while (this.#waiting.length > 0) await this.#write(this.#take());
    this.#running = null;
  }

  #take(): Waiting[] {
    const keys = new Set<string>();
    let size: CommitSize = { checks: 0, writes: 0, bytes: 0, keyBytes: 0 };
    let count = 0;
    for (const { transaction } of this.#waiting) {
      for (const { id } of transaction.reads) keys.add(id);
      size = { ...addSizes(size, transaction.size), checks: keys.size };
      if (count > 0 && !fits(size, KV_LIMITS)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      if (await this.#attempt(batch, true) || await this.#attempt(batch, false)) return;
    } catch (error) {
      if (!isRefusedBeforeWriting(error)) return rejectAll(batch, new StoreWriteError(error));
    }
    for (const one of batch) await this.#writeAlone(one);
  }

  async #writeAlone(one: Waiting): Promise<void> {
    try {
      for (let attempt = 0; attempt < ATTEMPTS_ALONE; attempt++) {
        if (await this.#attempt([one], false)) return;
      }
      one.reject(new StoreWriteError("the database was changed by somebody else"));
    } catch (error) {
      one.reject(error instanceof RangeError ? error : new StoreWriteError(error));
    }
  }

  /**
   * Decides and writes a batch. Returns false if nothing was written because an assumption or a cached value was wrong.
   */
  async #attempt(waiting: readonly Waiting[], assumeAbsent: boolean): Promise<boolean> {
    const loaded = await this.#load(waiting, assumeAbsent);
    const batch = new Batch(loaded);
    const results = waiting.map(({ transaction }) => {
      const writes = new WriteSet(batch);
      const { accepted, result } = transaction.decide(writes);
      if (accepted) writes.accept();
      return result;
    });
    if (batch.changes.size === 0) {
      // Without a write nothing has checked the assumptions behind refusals and commits of checks alone.
      if ([...loaded.values()].some(({ isAssumed }) => isAssumed)) return false;
      this.#resolve(waiting, results, neverCurrent);
      return true;
    }
    const version = await this.#writeAtomic(batch, loaded, waiting.length);
    if (version === null) {
      if (!assumeAbsent) this.#cache.clear(); // no assumption failed, so a cached value was wrong
      return false;
    }
    // A value that a later transaction of the batch replaced was never durable. It must not get the version of the
    // other value.
    this.#resolve(waiting, results, (change) => batch.changes.get(change.id) === change ? version : neverCurrent());
    return true;
  }

  #resolve(
    waiting: readonly Waiting[],
    results: readonly ((versionOf: VersionOf) => unknown)[],
    versionOf: VersionOf,
  ): void {
    this.#transactions += waiting.length;
    waiting.forEach((one, i) => one.resolve(results[i]?.(versionOf)));
  }

  /** Returns the version of all written values; null if a check failed and nothing was written. */
  async #writeAtomic(
    batch: Batch,
    loaded: ReadonlyMap<string, LoadedValue>,
    transactions: number,
  ): Promise<Version | null> {
    const atomic = this.#kv.atomic();
    for (const { key, version } of loaded.values()) atomic.check({ key: kvKeyOf(key), versionstamp: version });
    for (const change of batch.changes.values()) addChange(atomic, change);
    const whenDurable = this.#alarms(atomic, batch.due);
    this.#cache.beginWrite(batch.changes.keys());
    const written = await this.#commit(atomic, transactions).finally(() => this.#cache.endWrite());
    if (!written.ok) return null;
    this.#atomics++;
    for (const [id, { key, put }] of batch.changes) {
      if (put?.isCached === false) continue;
      this.#cache.put(
        id,
        key,
        put ? { value: put.value, version: written.versionstamp } : { value: undefined, version: null },
      );
    }
    whenDurable();
    return written.versionstamp;
  }

  async #commit(
    atomic: Deno.AtomicOperation,
    transactions: number,
  ): Promise<Deno.KvCommitResult | Deno.KvCommitError> {
    const startedAt = performance.now();
    try {
      const written = await atomic.commit();
      this.metrics.noteWrite(performance.now() - startedAt, transactions);
      this.#lastWriteFailed = false;
      this.#onWrite(null);
      return written;
    } catch (error) {
      this.metrics.noteFailure();
      this.#cache.clear();
      this.#lastWriteFailed = !isRefusedBeforeWriting(error);
      if (this.#lastWriteFailed) this.#onWrite(error);
      throw error;
    }
  }

  async #load(waiting: readonly Waiting[], assumeAbsent: boolean): Promise<Map<string, LoadedValue>> {
    const loaded = new Map<string, LoadedValue>();
    const unknown = new Map<string, LoadedValue>();
    for (const { transaction } of waiting) {
      for (const { id, key, isAssumedAbsent } of transaction.reads) {
        const known = this.#cache.get(id);
        if (known) loaded.set(id, { key, value: known.value, version: known.version, isAssumed: false });
        else if (!assumeAbsent || !isAssumedAbsent) unknown.set(id, { key, ...ABSENT });
        else if (!loaded.has(id)) loaded.set(id, { key, ...ABSENT, isAssumed: true });
      }
    }
    for (const [id, value] of await this.#read([...unknown])) {
      loaded.set(id, value);
      this.#cache.put(id, value.key, { value: value.value, version: value.version });
    }
    return loaded;
  }

  async #read(unknown: readonly [string, LoadedValue][]): Promise<[string, LoadedValue][]> {
    const parts: Promise<[string, LoadedValue][]>[] = [];
    for (let i = 0; i < unknown.length; i += maxKeysPerRead) {
      parts.push(this.#readPart(unknown.slice(i, i + maxKeysPerRead)));
    }
    return (await Promise.all(parts)).flat();
  }

  async #readPart(unknown: readonly [string, LoadedValue][]): Promise<[string, LoadedValue][]> {
    const entries = await this.#kv.getMany<unknown[]>(unknown.map(([, { key }]) => kvKeyOf(key)));
    return unknown.map(([id, { key }], i): [string, LoadedValue] => {
      const { value, versionstamp } = entries[i] ?? ABSENT_ENTRY;
      return [id, { key, value: versionstamp === null ? undefined : value, version: versionstamp, isAssumed: false }];
    });
  }
}

let replacedValues = 0;

/** A unique version that no key ever has. */
function neverCurrent(): Version {
  return `replaced ${++replacedValues}`;
}

const ABSENT: Omit<LoadedValue, "key"> = { value: undefined, version: null, isAssumed: false };

const ABSENT_ENTRY = { value: null, versionstamp: null };

function addChange(atomic: Deno.AtomicOperation, { key, put }: Change): void {
  if (!put) atomic.delete(kvKeyOf(key));
  else if (put.collectAfterMs === undefined) atomic.set(kvKeyOf(key), put.value);
  else atomic.set(kvKeyOf(key), put.value, { expireIn: put.collectAfterMs });
}

// Deno KV has no error codes. These errors come from size checks and from serialisation, before anything is written.
// After any other error the outcome is unknown, and a repeat could move money twice.
function isRefusedBeforeWriting(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof TypeError && /too large|Too many/.test(error.message));
}

function rejectAll(batch: readonly Waiting[], reason: StoreWriteError): void {
  for (const one of batch) one.reject(reason);
}
