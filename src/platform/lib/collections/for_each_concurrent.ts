/**
 * Runs `work` for each item in order, at most `atOnce` at a time. This bounds the load on the thread and on other
 * resources regardless of the number of items.
 *
 * @param atOnce At least 1.
 * @throws The first error that `work` throws.
 */
export async function forEachConcurrent<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const item of left) await work(item);
  }));
}
