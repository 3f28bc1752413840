import type { Files } from "../../files/files.ts";
import { extraMirrorNamesOf, mirrorNamesOf } from "./mirror_names.ts";
import { MAX_EXTRAS, MAX_RESULTS } from "../polling/poll.ts";

/** Removes every copy that a task of this id can have had. */
export async function removeCopies(files: Files, taskId: string): Promise<void> {
  const names = [
    ...mirrorNamesOf(taskId, Array.from({ length: MAX_RESULTS })),
    ...extraMirrorNamesOf(taskId, Array.from({ length: MAX_EXTRAS })),
  ];
  for (const name of names) await files.remove(name);
}
