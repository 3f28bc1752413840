import type { VideoTask } from "./task.ts";

/** Returns the names in the file store of the copies of a task's results, in their order. */
export function mirrorNamesOf(taskId: string, results: readonly unknown[]): string[] {
  return results.map((_, index) => `${taskId}-${index}.mp4`);
}

/**
 * Returns the names of the copies of a task's extras, in their order. The media type of a served file follows its
 * content.
 */
export function extraMirrorNamesOf(taskId: string, extras: readonly unknown[]): string[] {
  return extras.map((_, index) => `${taskId}-extra-${index}.png`);
}

/**
 * Returns the name of the copy of a result, which may not exist yet; undefined if copying was abandoned or the copy was
 * removed.
 */
export function mirrorOf({ id, results, mirrors }: VideoTask, index: number): string | undefined {
  return mirrors.find((name) => name === mirrorNamesOf(id, results)[index]);
}

/** Returns the name of the copy of an extra by the same rule. */
export function extraMirrorOf({ id, extras = [], extraMirrors = [] }: VideoTask, index: number): string | undefined {
  return extraMirrors.find((name) => name === extraMirrorNamesOf(id, extras)[index]);
}
