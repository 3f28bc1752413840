import type { VideoJobHandle } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { VideoTask } from "../tasks/task.ts";

/** Identifies one create call of a task. */
type Called = Pick<VideoTask, "id" | "offers">;

/**
 * Jobs that vendors confirmed and the store has not accepted yet, for example while the disk is full. If the vendor has
 * no list, this is the only record of them, so they are kept until they are stored. Creates are rejected while the
 * store is read-only, so the number is bounded by the concurrent calls.
 */
export class UnrecordedJobs {
  readonly #jobs = new Map<string, { readonly offers: number | undefined; readonly job: VideoJobHandle }>();

  /** Adds the job of the task's latest call. */
  set({ id, offers }: Called, job: VideoJobHandle): void {
    this.#jobs.set(id, { offers, job });
  }

  /** Returns the job of the task's latest call; null if none was confirmed or it is stored. */
  get({ id, offers }: Called): VideoJobHandle | null {
    const known = this.#jobs.get(id);
    return known && known.offers === offers ? known.job : null;
  }

  /** Removes the job after it was stored or the task ended. */
  delete(id: string): void {
    this.#jobs.delete(id);
  }
}
