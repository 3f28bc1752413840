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
    // A distance is at least the difference of the lengths. Most of thousands of words are passed over here.
    if (Math.abs(Math.min(candidate.length, MAX_CHARACTERS) - plain.length) >= least) continue;
    const edits = editDistance(plain, plainOf(candidate), least - 1);
    if (edits < least) [nearest, least] = [candidate, edits];
  }
  return nearest;
}

/**
 * The number of insertions, deletions, replacements and swaps of neighbours between two words: the optimal string
 * alignment distance, also called restricted Damerau-Levenshtein.
 *
 * @param max A larger distance need not be exact, only larger than this. It bounds the work.
 */
export function editDistance(one: string, other: string, max = Infinity): number {
  const width = other.length;
  let before: number[] = [];
  let above = Array.from({ length: width + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current: number[] = new Array(width + 1).fill(Infinity);
    current[0] = row;
    let least = row;
    // Where row and column differ by more, so do the words.
    for (let column = Math.max(1, row - max); column <= Math.min(width, row + max); column++) {
      const differs = one[row - 1] === other[column - 1] ? 0 : 1;
      let edits = Math.min(
        (above[column] ?? Infinity) + 1,
        (current[column - 1] ?? Infinity) + 1,
        (above[column - 1] ?? Infinity) + differs,
      );
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) edits = Math.min(edits, (before[column - 2] ?? Infinity) + 1);
      current[column] = edits;
      least = Math.min(least, edits);
    }
    if (least > max) return least;
    [before, above] = [above, current];
  }
  return above[width] ?? Infinity;
}

const MAX_CHARACTERS = 100;

function plainOf(word: string): string {
  return word.slice(0, MAX_CHARACTERS).toLowerCase().replaceAll("-", "_");
}
