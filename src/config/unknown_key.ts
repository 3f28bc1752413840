/**
 * The known word that a mistyped one probably means. It is the nearest by edit distance, with at most a third of the
 * letters different (at least one, at most three). Case and `-` for `_` are ignored.
 *
 * @returns Null if no word is near. The first of several equal ones.
 */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const plain = plainOf(word);
  let nearest: string | null = null;
  let least = Math.min(3, Math.max(1, Math.floor(plain.length / 3))) + 1;
  for (const candidate of known) {
    const edits = editsBetween(plain, plainOf(candidate));
    if (edits < least) [nearest, least] = [candidate, edits];
  }
  return nearest;
}

/**
 * The number of insertions, deletions, replacements and swaps of neighbours between two words: the optimal string
 * alignment distance, also called restricted Damerau-Levenshtein.
 */
export function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 64) return Math.max(one.length, other.length);
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const differs = one[row - 1] === other[column - 1] ? 0 : 1;
      let edits = Math.min(above[column] + 1, current[column - 1] + 1, above[column - 1] + differs);
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) edits = Math.min(edits, before[column - 2] + 1);
      current.push(edits);
    }
    [before, above] = [above, current];
  }
  return above[other.length];
}

function plainOf(word: string): string {
  return word.slice(0, 100).toLowerCase().replaceAll("-", "_");
}
