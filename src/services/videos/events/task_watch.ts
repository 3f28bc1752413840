import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { changedJobStore } from "../../../platform/store/changed_store.ts";
import type { Commit, JobStore } from "../../../platform/store/store.ts";
import { readTask, readTasks, tasksWrittenBy } from "../tasks/records.ts";
import type { VideoTask } from "../tasks/task.ts";

/** Receives the changes of a task. */
export interface TaskWatcher {
  /** Called with the current task, changed or not; null if it no longer exists. */
  onTask(task: VideoTask | null): void;
  /** Called every {@linkcode TICK_MS}. */
  onTick(): void;
  /** Called before the process ends; no more changes are reported. */
  onClose(): void;
}

/** Interval of the ticks of watchers, at which all watched tasks are read in case a change was missed. */
export const TICK_MS = 15_000;
/** Interval at which they are read for changes by other processes, if there can be any. */
export const SHARED_READ_MS = 1_500;

/** Maximum number of tasks per read. */
const TASKS_PER_READ = 100;

/**
 * Reports changes of tasks to their watchers. A commit of this process that writes a watched task is reported from the
 * commit itself, without a read. One timer reads all watched tasks to find changes by other processes, often if
 * processes share the store.
 */
export class TaskWatch {
  readonly #watchers = new Map<string, Set<TaskWatcher>>();
  /** Tasks being read; true if one changed again meanwhile. */
  readonly #reading = new Map<string, boolean>();
  /** Tasks read individually since the timer's read started; null while none is running. */
  #readSinceTick: Set<string> | null = null;
  #stopTimer: (() => void) | null = null;
  #isClosed = false;
  readonly #readEveryMs: number;
  /** Since the last tick. */
  #sinceTickMs = 0;

  constructor(readonly store: JobStore, readonly clock: Clock) {
    this.#readEveryMs = store.jobLeaseMs === undefined ? TICK_MS : SHARED_READ_MS;
  }

  /** Watches a task, whose current state is reported first. Returns a function that ends the watch. */
  watch(id: string, watcher: TaskWatcher): () => void {
    if (this.#isClosed) {
      watcher.onClose();
      return () => {};
    }
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(watcher));
    this.#stopTimer ??= this.clock.after(this.#readEveryMs, () => holdWork(this.#readAll()));
    holdWork(this.#read(id));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#watchers.delete(id);
      if (this.#watchers.size === 0) this.#endTimer();
    };
  }

  /** Returns the store with observed commits: a task written through it is reported immediately. */
  observedStore(): JobStore {
    const { store } = this;
    return changedJobStore(store, {
      commit: async (operation, commit) => {
        const result = await store.commit(operation, commit);
        if (result.ok && this.#watchers.size > 0) this.#announce(commit);
        return result;
      },
    });
  }

  /** Reports to every watcher that the process is about to end. */
  close(): void {
    this.#isClosed = true;
    for (const watchers of [...this.#watchers.values()]) for (const each of [...watchers]) each.onClose();
    this.#watchers.clear();
    this.#endTimer();
  }

  #announce(commit: Commit): void {
    for (const task of tasksWrittenBy(commit)) {
      if (!this.#watchers.has(task.id)) continue;
      this.#readSinceTick?.add(task.id);
      // A running read may return an older state. It is repeated, and its result is reported after this.
      if (this.#reading.has(task.id)) this.#reading.set(task.id, true);
      else this.#reportSafely(task);
    }
  }

  /** The commit succeeded, so an exception of a watcher must not make it fail. */
  #reportSafely(task: VideoTask): void {
    try {
      this.#report(task.id, task);
    } catch {
      // The next tick reports the task again.
    }
  }

  async #read(id: string): Promise<void> {
    this.#readSinceTick?.add(id);
    if (this.#reading.has(id)) return void this.#reading.set(id, true);
    try {
      // Ends when the task did not change during a read of the store.
      do {
        this.#reading.set(id, false);
        this.#report(id, (await readTask(this.store, id))?.value ?? null);
      } while (this.#reading.get(id));
    } catch {
      // The store is unavailable: the next tick reads the task again.
    } finally {
      this.#reading.delete(id);
    }
  }

  async #readAll(): Promise<void> {
    this.#stopTimer = null;
    const ids = [...this.#watchers.keys()];
    const newer = this.#readSinceTick = new Set<string>();
    try {
      for (let at = 0; at < ids.length; at += TASKS_PER_READ) {
        const part = ids.slice(at, at + TASKS_PER_READ);
        const tasks = new Map((await readTasks(this.store, part)).map((task) => [task.id, task]));
        for (const id of part) if (!newer.has(id)) this.#report(id, tasks.get(id) ?? null);
      }
    } catch {
      // As above.
    } finally {
      this.#readSinceTick = null;
    }
    this.#sinceTickMs += this.#readEveryMs;
    if (this.#sinceTickMs >= TICK_MS) {
      this.#sinceTickMs = 0;
      for (const watchers of [...this.#watchers.values()]) for (const each of [...watchers]) each.onTick();
    }
    if (this.#watchers.size > 0) {
      this.#stopTimer ??= this.clock.after(this.#readEveryMs, () => holdWork(this.#readAll()));
    }
  }

  #report(id: string, task: VideoTask | null): void {
    for (const each of [...this.#watchers.get(id) ?? []]) each.onTask(task);
  }

  #endTimer(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
  }
}
