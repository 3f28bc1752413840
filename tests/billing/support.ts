import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import type { Log, LogFields } from "../../src/platform/lib/basics/log.ts";
import { changedStore } from "../../src/platform/store/changed_store.ts";
import type { Commit, Store } from "../../src/platform/store/store.ts";

/** A clock that only moves when a test advances it. */
export interface ManualClock extends Clock {
  /** Advances the clock and runs due timers in order. */
  advance(ms: number): void;
}

/** A manual clock that starts at an instant of 2026. */
export function manualClock(): ManualClock {
  let now = 1_790_000_000_000;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => now,
    monotonicMs: () => now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at > now || !timers.delete(timer)) continue;
        timer.callback();
      }
    },
  };
}

/** A clock whose timers fire at once and advance it by their delay. */
export function instantClock(): Clock {
  const { now, monotonicMs, advance } = manualClock();
  return {
    now,
    monotonicMs,
    after(delayMs, callback) {
      advance(delayMs);
      queueMicrotask(callback);
      return () => {};
    },
  };
}

/** A store that counts its calls, with hooks before and after them. */
export interface ObservedStore extends Store {
  readonly commits: Commit[];
  readonly operations: (string | null)[];
  /** The number of calls of `get`. */
  reads: number;
  /** The number of calls of `balance`. */
  balanceReads: number;
  /** Awaited before each commit; its error is thrown. */
  beforeCommit: () => void | Promise<void>;
  /** Awaited after each commit; its error is thrown, although the commit is made. */
  afterCommit: () => void | Promise<void>;
  /** Awaited after each `get`, before its result is returned. */
  afterGet: () => void | Promise<void>;
}

/** Observes a store. */
export function observeStore(store: Store): ObservedStore {
  const watch: ObservedStore = {
    ...changedStore(store, {}),
    commits: [],
    operations: [],
    reads: 0,
    balanceReads: 0,
    beforeCommit() {},
    afterCommit() {},
    afterGet() {},
    async get<T>(keys: Parameters<Store["get"]>[0]) {
      watch.reads++;
      const entries = await store.get<T>(keys);
      await watch.afterGet();
      return entries;
    },
    balance(account) {
      watch.balanceReads++;
      return store.balance(account);
    },
    async commit(operation, commit) {
      watch.commits.push(commit);
      watch.operations.push(operation);
      await watch.beforeCommit();
      const result = await store.commit(operation, commit);
      await watch.afterCommit();
      return result;
    },
  };
  return watch;
}

/** A log that records its lines. */
export function recordingLog(): Log & { readonly lines: { readonly event: string; readonly fields: LogFields }[] } {
  const lines: { event: string; fields: LogFields }[] = [];
  const keep = (event: string, fields: LogFields = {}) => void lines.push({ event, fields });
  return { lines, debug: keep, info: keep, warn: keep, error: keep };
}

/** Resolves after everything that is ready has run. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
