/**
 * The items in a random order, so that no contender always has the turn after the same other one.
 *
 * @param random Uniform in [0, 1).
 */
export function shuffled<Item>(items: readonly Item[], random: () => number = Math.random): Item[] {
  return items.map((item) => ({ item, at: random() })).sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
