import {
  Batch,
  type Change,
  type DueTime,
  type LoadedValue,
  type Transaction,
  type VersionOf,
  WriteSet,
} from "./transaction.ts";
import { kvKeyOf } from "./keys.ts";
import { addSizes, type CommitSize, fits, KV_LIMITS } from "../commit_size.ts";
import { ValueCache } from "./value_cache.ts";
import type { Version } from "../store.ts";

/** A write that the database refused, such as on a full disk. It may be tried again, under the same operation name. */
export class StoreWriteError extends Error {
  override readonly name = "StoreWriteError";

  /** @param cause What the database said. */
  constructor(cause: unknown) {
    super(`Cannot write to the store: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Called with what a batch will be due; adds its alarms to the write and gives what to do once it is durable. */
export type AlarmWriter = (atomic: Deno.AtomicOperation, due: readonly DueTime[]) => () => void;

/** What the engine did since it was opened. */
export interface WriteCounts {
  /** Atomic writes that succeeded: one flush of the disk each. */
  readonly atomics: number;
  /** Proposals decided. */
  readonly transactions: number;
}

interface Waiting {
  readonly proposal: Transaction<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

const { maxKeysPerRead } = KV_LIMITS;
const ATTEMPTS_ALONE = 5;

/**
 * The one writer of the database. Proposals are taken in order; those that wait while an atomic is written share the
 * next one. Each is decided against what the ones before it in the batch leave behind, as if it came alone, and the
 * atomic checks every version that was read, also for those refused. So the outcome is that of one after the other:
 *
 *     gather → decide, absences presumed → atomic → done
 *                        └ a presumption or a check failed → read what was presumed, decide again → atomic → done
 *                                                                                     └ a check failed again → one by
 *                                                                                     one
 */
export class GroupCommit {
  readonly #kv: Deno.Kv;
  readonly #alarms: AlarmWriter;
  readonly #cache = new ValueCache();
  readonly #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #atomics = 0;
  #proposals = 0;
  #lastWriteFailed = false;
  readonly #onWrite: (refusal: unknown) => void;

  /**
   * @param kv Written by nobody else.
   * @param alarms Takes what will be due.
   * @param onWrite Called with null when the database has taken a write, else with why it has not.
   */
  constructor(kv: Deno.Kv, alarms: AlarmWriter, onWrite: (refusal: unknown) => void = () => {}) {
    this.#kv = kv;
    this.#alarms = alarms;
    this.#onWrite = onWrite;
  }

  /** How much was written. */
  get counts(): WriteCounts {
    return { atomics: this.#atomics, transactions: this.#proposals };
  }

  /** Whether the last write was refused by the database. */
  get lastWriteFailed(): boolean {
    return this.#lastWriteFailed;
  }

  /** What is known to be durable without reading. */
  get known(): ValueCache {
    return this.#cache;
  }

  /**
   * Decides a proposal in its turn; resolves when what it wrote is durable.
   *
   * @throws {StoreWriteError} If the database refused the write.
   */
  submit<R>(proposal: Transaction<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ proposal, resolve: resolve as (result: unknown) => void, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // what is submitted in the same turn shares the first batch
    while (this.#waiting.length > 0) await this.#write(this.#take());
    this.#running = null;
  }

  #take(): Waiting[] {
    const keys = new Set<string>();
    let weight: CommitSize = { checks: 0, writes: 0, bytes: 0, keyBytes: 0 };
    let count = 0;
    for (const { proposal } of this.#waiting) {
      for (const { id } of proposal.reads) keys.add(id);
      weight = { ...addSizes(weight, proposal.size), checks: keys.size };
      if (count > 0 && !fits(weight, KV_LIMITS)) break;
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

  /** Decides and writes a batch; false: nothing was done, and what was thought to be known must be read. */
  async #attempt(waiting: readonly Waiting[], presume: boolean): Promise<boolean> {
    const loaded = await this.#load(waiting, presume);
    const batch = new Batch(loaded);
    const results = waiting.map(({ proposal }) => {
      const draft = new WriteSet(batch);
      const { accepted, result } = proposal.decide(draft);
      if (accepted) draft.accept();
      return result;
    });
    if (batch.changes.size === 0) {
      // Without an atomic nothing has checked what was presumed, for refusals and for commits of checks alone.
      if ([...loaded.values()].some(({ isAssumed: presumed }) => presumed)) return false;
      this.#resolve(waiting, results, neverCurrent);
      return true;
    }
    const version = await this.#writeAtomic(batch, loaded);
    if (version === null) {
      if (!presume) this.#cache.clear(); // then it was no presumption that failed, but something thought to be known
      return false;
    }
    // A value that a later proposal of the batch replaced was never durable: its version must not be that of the other value.
    this.#resolve(waiting, results, (change) => batch.changes.get(change.id) === change ? version : neverCurrent());
    return true;
  }

  #resolve(
    waiting: readonly Waiting[],
    results: readonly ((versionOf: VersionOf) => unknown)[],
    versionOf: VersionOf,
  ): void {
    this.#proposals += waiting.length;
    waiting.forEach((one, i) => one.resolve(results[i]?.(versionOf)));
  }

  /** The version of everything that was written; null when a check failed and nothing was. */
  async #writeAtomic(batch: Batch, loaded: ReadonlyMap<string, LoadedValue>): Promise<Version | null> {
    const atomic = this.#kv.atomic();
    for (const { key, version } of loaded.values()) atomic.check({ key: kvKeyOf(key), versionstamp: version });
    for (const change of batch.changes.values()) addChange(atomic, change);
    const whenDurable = this.#alarms(atomic, batch.due);
    this.#cache.beginWrite(batch.changes.keys());
    const written = await this.#commit(atomic).finally(() => this.#cache.endWrite());
    if (!written.ok) return null;
    this.#atomics++;
    for (const [id, { key, put }] of batch.changes) {
      this.#cache.put(
        id,
        key,
        put ? { value: put.value, version: written.versionstamp } : { value: undefined, version: null },
      );
    }
    whenDurable();
    return written.versionstamp;
  }

  async #commit(atomic: Deno.AtomicOperation): Promise<Deno.KvCommitResult | Deno.KvCommitError> {
    try {
      const written = await atomic.commit();
      this.#lastWriteFailed = false;
      this.#onWrite(null);
      return written;
    } catch (error) {
      this.#cache.clear();
      this.#lastWriteFailed = !isRefusedBeforeWriting(error);
      if (this.#lastWriteFailed) this.#onWrite(error);
      throw error;
    }
  }

  async #load(waiting: readonly Waiting[], presume: boolean): Promise<Map<string, LoadedValue>> {
    const loaded = new Map<string, LoadedValue>();
    const unknown = new Map<string, LoadedValue>();
    for (const { proposal } of waiting) {
      for (const { id, key, isAssumedAbsent: presumedAbsent } of proposal.reads) {
        const known = this.#cache.get(id);
        if (known) loaded.set(id, { key, value: known.value, version: known.version, isAssumed: false });
        else if (!presume || !presumedAbsent) unknown.set(id, { key, ...ABSENT });
        else if (!loaded.has(id)) loaded.set(id, { key, ...ABSENT, isAssumed: true });
      }
    }
    for (const [id, slot] of await this.#read([...unknown])) {
      loaded.set(id, slot);
      this.#cache.put(id, slot.key, { value: slot.value, version: slot.version });
    }
    return loaded;
  }

  async #read(unknown: readonly [string, LoadedValue][]): Promise<[string, LoadedValue][]> {
    const parts: Promise<[string, LoadedValue][]>[] = [];
    for (let i = 0; i < unknown.length; i += maxKeysPerRead) {
      parts.push(this.#readTen(unknown.slice(i, i + maxKeysPerRead)));
    }
    return (await Promise.all(parts)).flat();
  }

  async #readTen(unknown: readonly [string, LoadedValue][]): Promise<[string, LoadedValue][]> {
    const entries = await this.#kv.getMany<unknown[]>(unknown.map(([, { key }]) => kvKeyOf(key)));
    return unknown.map(([id, { key }], i): [string, LoadedValue] => {
      const { value, versionstamp } = entries[i] ?? ABSENT_ENTRY;
      return [id, { key, value: versionstamp === null ? undefined : value, version: versionstamp, isAssumed: false }];
    });
  }
}

let replacedValues = 0;

/** A version that no key has or gets, other than every other one. */
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

// Deno KV has no error codes. These come from checking the sizes or from serialising, both before anything is written;
// after any other the outcome is not known, and a repeat could move money twice.
function isRefusedBeforeWriting(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof TypeError && /too large|Too many/.test(error.message));
}

function rejectAll(batch: readonly Waiting[], reason: StoreWriteError): void {
  for (const one of batch) one.reject(reason);
}
