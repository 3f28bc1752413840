import { UpstreamFailure } from "../../upstreams/failure.ts";
import { endOf } from "../polling/poll.ts";
import { upstreamOf } from "./result_source.ts";
import { changedTask, changeTask, readTask, type TaskEntry } from "../tasks/records.ts";
import type { VideoParts } from "../video_parts.ts";

/** A vendor is asked no sooner again for the addresses of one task. */
const PAUSE_MS = 60_000;
/** Tasks whose last question is remembered. */
const MAX_REMEMBERED = 10_000;

/** Gets results new addresses from vendors that give them with each poll. */
export class AddressRenewal {
  readonly #askedAt = new Map<string, number>();

  constructor(readonly parts: VideoParts) {}

  /**
   * Asks the vendor for new addresses and keeps them in the task's record.
   *
   * @returns The task with them; null when the vendor gives none, was asked within the last minute, or fails.
   */
  async renew(entry: TaskEntry): Promise<TaskEntry | null> {
    const { store, egress, upstreams, log } = this.parts;
    const { value: task } = entry;
    const upstream = upstreamOf(upstreams, task);
    if (!upstream?.renewsAddresses || task.stage.step !== "submitted" || !this.#mayAsk(task.id)) return null;
    try {
      const progress = await upstream.poll(task.stage.job);
      const end = progress.status === "completed" ? endOf(egress, progress) : null;
      // Copies are named by their place, so a vendor that gives another number of results gives other results.
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

  #mayAsk(id: string): boolean {
    const now = this.parts.clock.monotonicMs();
    const askedAt = this.#askedAt.get(id);
    if (askedAt !== undefined && now < askedAt + PAUSE_MS) return false;
    this.#askedAt.delete(id);
    if (this.#askedAt.size >= MAX_REMEMBERED) this.#askedAt.delete(this.#askedAt.keys().next().value!);
    this.#askedAt.set(id, now);
    return true;
  }
}
