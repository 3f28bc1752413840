import type { VideoJobHandle } from "../../upstreams/video_upstream.ts";
import type { VideoTask } from "../tasks/task.ts";

/** A task in one of its calls to a vendor. */
type Called = Pick<VideoTask, "id" | "offers">;

/**
 * Jobs that vendors confirmed and that the store has not taken yet, as while the disk is full. Nobody else knows of
 * them where the vendor has no list, so they are kept until they are recorded. Creates are refused while the store
 * takes no writes, so there are hardly more than calls under way.
 */
export class UnrecordedJobs {
  readonly #jobs = new Map<string, { readonly offers: number | undefined; readonly job: VideoJobHandle }>();

  /** The vendor confirmed the task's latest call. */
  note({ id, offers }: Called, job: VideoJobHandle): void {
    this.#jobs.set(id, { offers, job });
  }

  /** The job of the task's latest call; null when none was confirmed, or it is recorded. */
  of({ id, offers }: Called): VideoJobHandle | null {
    const noted = this.#jobs.get(id);
    return noted && noted.offers === offers ? noted.job : null;
  }

  /** The store has it, or the task has ended. */
  forget(id: string): void {
    this.#jobs.delete(id);
  }
}
