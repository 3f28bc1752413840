import { elementAt } from "../collections/element_at.ts";

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
    const edits = editDistance(plain, plainOf(candidate));
    if (edits < least) [nearest, least] = [candidate, edits];
  }
  return nearest;
}

/**
 * The number of insertions, deletions, replacements and swaps of neighbours between two words: the optimal string
 * alignment distance, also called restricted Damerau-Levenshtein.
 */
export function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 64) return Math.max(one.length, other.length);
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    let left = row;
    let corner = row - 1;
    for (const [index, up] of above.slice(1).entries()) {
      const differs = one[row - 1] === other[index] ? 0 : 1;
      let edits = Math.min(up + 1, left + 1, corner + differs);
      const isSwap = one[row - 1] === other[index - 1] && one[row - 2] === other[index];
      const beforeSwap = before[index - 1];
      if (isSwap && beforeSwap !== undefined) edits = Math.min(edits, beforeSwap + 1);
      current.push(edits);
      left = edits;
      corner = up;
    }
    [before, above] = [above, current];
  }
  return elementAt(above, other.length);
}

function plainOf(word: string): string {
  return word.slice(0, 100).toLowerCase().replaceAll("-", "_");
}
