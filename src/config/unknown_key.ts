/**
 * The known word that a mistyped one most likely means: the nearest by edits, when at most a third of its letters
 * (at least one, at most three) differ. Upper and lower case, and `-` for `_`, are no difference.
 *
 * @returns Null when nothing is near. Among equals the first.
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
 * How many letters must be put in, taken out, replaced or swapped with their neighbour to make one word the other
 * (optimal string alignment, the restricted Damerau-Levenshtein distance).
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
