import type { VideoTask } from "../tasks/task.ts";

/** Names in the file store of the copies of a task's results, in their order. */
export function mirrorNamesOf(taskId: string, results: readonly unknown[]): string[] {
  return results.map((_, index) => `${taskId}-${index}.mp4`);
}

/**
 * Names in the file store of the copies of a task's extras, in their order. Files are served by their content's type.
 */
export function extraMirrorNamesOf(taskId: string, extras: readonly unknown[]): string[] {
  return extras.map((_, index) => `${taskId}-extra-${index}.png`);
}

/**
 * The name of the copy of a result, there or on its way; undefined when there is none, as the connection was cancelled or removed.
 */
export function mirrorOf({ id, results, mirrors }: VideoTask, index: number): string | undefined {
  return mirrors.find((name) => name === mirrorNamesOf(id, results)[index]);
}

/** The name of the copy of an extra; undefined alike. */
export function extraMirrorOf({ id, extras = [], extraMirrors = [] }: VideoTask, index: number): string | undefined {
  return extraMirrors.find((name) => name === extraMirrorNamesOf(id, extras)[index]);
}
