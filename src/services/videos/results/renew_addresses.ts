import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import { endOf } from "../polling/poll.ts";
import { upstreamOf } from "./result_source.ts";
import { changedTask, changeTask, readTask, type TaskEntry } from "../tasks/records.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** Minimum interval between two requests for the addresses of one task. */
const PAUSE_MS = 60_000;
/** Maximum number of tasks whose last request is cached. */
const MAX_CACHED_TASKS = 10_000;

/** Renews the addresses of results from vendors that issue new ones with each poll. */
export class AddressRenewal {
  readonly #requestedAt = new Map<string, number>();

  constructor(readonly parts: VideoParts) {}

  /**
   * Requests new addresses from the vendor and stores them in the task's record.
   *
   * @returns The changed task; null if the vendor issues none, fails, or was called within the last minute.
   */
  async renew(entry: TaskEntry): Promise<TaskEntry | null> {
    const { store, egress, upstreams, log } = this.parts;
    const { value: task } = entry;
    const upstream = upstreamOf(upstreams, task);
    if (!upstream?.renewsUrls || task.stage.step !== "submitted" || !this.#mayRequest(task.id)) return null;
    try {
      const progress = await upstream.poll(task.stage.job);
      const end = progress.status === "completed" ? endOf(egress, progress) : null;
      // Copies are named by position, so another number of results means other results.
      if (end?.status !== "completed" || end.results.length !== task.results.length) return null;
      const hasExtras = end.extras !== undefined && end.extras.length === task.extras?.length;
      const change = { results: end.results, ...(hasExtras ? { extras: end.extras } : {}), renewedAt: store.now() };
      const commit = changeTask({}, entry, change);
      return changedTask(entry, change, commit, await store.commit(null, commit)) ?? await readTask(store, task.id);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      log.warn("video_renewal_failed", { ref: task.id, provider: task.stage.provider, code: error.kind });
      return null;
    }
  }

  #mayRequest(id: string): boolean {
    const now = this.parts.clock.monotonicMs();
    const askedAt = this.#requestedAt.get(id);
    if (askedAt !== undefined && now < askedAt + PAUSE_MS) return false;
    this.#requestedAt.delete(id);
    if (this.#requestedAt.size >= MAX_CACHED_TASKS) this.#requestedAt.delete(this.#requestedAt.keys().next().value!);
    this.#requestedAt.set(id, now);
    return true;
  }
}
