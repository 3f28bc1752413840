/** Names in the file store of the copies of a task's results, in their order. */
export function mirrorNamesOf(taskId: string, results: readonly unknown[]): string[] {
  return results.map((_, index) => `${taskId}-${index}.mp4`);
}

/** Names in the file store of the copies of a task's extras, in their order. Files are served by their content's type. */
export function extraMirrorNamesOf(taskId: string, extras: readonly unknown[]): string[] {
  return extras.map((_, index) => `${taskId}-extra-${index}.png`);
}
