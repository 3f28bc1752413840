import { appendAll } from "../../platform/lib/collections/append_all.ts";
/**
 * Orders items by weighted random selection without replacement. Items of weight 0 come last in their own order. The
 * first item follows the configured weights, and the rest is a fair order of fallbacks.
 *
 * @param random Uniform in [0, 1).
 */
export function weightedOrder<T>(
  items: readonly T[],
  weightOf: (item: T) => number,
  random: () => number,
): T[] {
  const left = items.filter((item) => weightOf(item) > 0);
  const ordered: T[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, item) => sum + weightOf(item), 0);
    let point = random() * total;
    let at = 0;
    for (const [index, item] of left.entries()) {
      at = index;
      point -= weightOf(item);
      if (point < 0) break;
    }
    appendAll(ordered, left.splice(at, 1));
  }
  return [...ordered, ...items.filter((item) => weightOf(item) <= 0)];
}
