/**
 * Does a piece of work for each item, in their order, so many at once: what many items ask of the thread in one turn,
 * and of whatever they wait for, does not grow with their number.
 *
 * @param atOnce At least 1.
 * @throws What the first piece of work that failed has thrown.
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
