import type { FileStore } from "../../../platform/files/files.ts";
import { extraMirrorNamesOf, mirrorNamesOf } from "../tasks/mirror_names.ts";
import { MAX_EXTRAS, MAX_RESULTS } from "../polling/poll.ts";
import type { VideoTask } from "../tasks/task.ts";

/** Removes every possible copy of the results and extras of a task. */
export async function removeCopies(
  files: FileStore,
  { id, results, extras = [] }: Pick<VideoTask, "id" | "results" | "extras">,
): Promise<void> {
  for (const name of mirrorNamesOf(id, results)) await files.remove(name);
  for (const name of extraMirrorNamesOf(id, extras)) await files.remove(name);
}

/** Removes every possible copy of a task whose record is gone. */
export async function removeAnyCopies(files: FileStore, id: string): Promise<void> {
  const all = { results: Array(MAX_RESULTS).fill(null), extras: Array(MAX_EXTRAS).fill(null) };
  await removeCopies(files, { id, ...all });
}
