import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../../platform/store/store.ts";
import { writeCopyRef } from "../results/copy_ref.ts";
import { extraMirrorNamesOf, mirrorNamesOf } from "../tasks/mirror_names.ts";
import { addJob, changeTask, readTask } from "../tasks/records.ts";
import { taskNotFound } from "../tasks/video_errors.ts";
import type { VideoTask } from "../tasks/task.ts";
import { isTaskId } from "../tasks/task_id.ts";

/**
 * Maximum number of conflicting commits. An ended task changes when its copies are complete, and rarely after that.
 */
const MAX_RACES = 8;

/**
 * Copies all results and extras of a task again, starting now. An earlier copy job of the task becomes void, so its
 * backoff causes no delay.
 *
 * @returns The changed task.
 * @throws {GatewayError} `not_found`; `conflict` if the task has no results.
 */
export async function recopyResults(store: Store, id: string): Promise<VideoTask> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = isTaskId(id) ? await readTask(store, id) : null;
    if (entry === null) throw taskNotFound();
    const { status, results, extras = [], recopy } = entry.value;
    if (status !== "completed") {
      throw new GatewayError("conflict", `Cannot copy the results again: the task is ${status} and has no results`);
    }
    const run = (recopy?.run ?? 0) + 1;
    const change = {
      mirrors: mirrorNamesOf(id, results),
      extraMirrors: extraMirrorNamesOf(id, extras),
      mirroring: true,
      recopy: { run, done: 0 },
    };
    const commit = addJob(
      changeTask({}, entry, change),
      "video_mirror",
      writeCopyRef({ taskId: id, run }),
      store.now(),
    );
    if ((await store.commit(null, commit)).ok) return { ...entry.value, ...change };
  }
  throw new GatewayError("internal_error", "Cannot copy the results again: too many concurrent changes");
}
