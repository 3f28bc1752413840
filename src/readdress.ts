/**
 * One address that users guess, and the one that it stands for. Paths are compared as they were sent, byte for byte and
 * in whole segments: nothing is decoded, and neither case nor `..` is overlooked.
 */
export interface Guess {
  /** What the path begins with: `/v1/v1` covers `/v1/v1` and all below. A closing slash means an empty segment. */
  readonly from: string;
  /** What stands in its place. */
  readonly to: string;
  /** Asked where the beginning alone leaves open what is meant. Default: it always holds. */
  readonly when?: (path: string, headers: Headers) => boolean;
}

/** Gives the address that a path stands for; the path itself when it is no guess. */
export type Readdress = (path: string, headers: Headers) => string;

/** Above the guesses that one path can hold at once, such as a vendor's prefix, a version twice and an empty segment. */
const MOST_STEPS = 5;

/**
 * Makes a table of guesses ready to ask. The rows are tried in their order, and again on what came out, at most five
 * times. A path that no row concerns costs one look-up.
 *
 * @param settled Paths that are looked up whole before everything else: those of endpoints, which no row concerns.
 */
export function createReaddress(guesses: readonly Guess[], settled: Iterable<string> = []): Readdress {
  const bySegment = new Map<string, Guess[]>();
  for (const guess of guesses) {
    const segment = firstSegmentOf(guess.from);
    bySegment.set(segment, [...bySegment.get(segment) ?? [], guess]);
  }
  const exact = new Set<string>();
  for (const path of settled) if (!guesses.some(({ from }) => isBelow(path, from))) exact.add(path);

  return (sent, headers) => {
    if (exact.has(sent)) return sent;
    let path = sent;
    for (let step = 0; step < MOST_STEPS; step++) {
      const guess = bySegment.get(firstSegmentOf(path))?.find(({ from, when }) =>
        isBelow(path, from) && (when === undefined || when(path, headers))
      );
      if (guess === undefined) return path;
      path = guess.to + path.slice(guess.from.length);
    }
    return path;
  };
}

function isBelow(path: string, from: string): boolean {
  return path.startsWith(from) && (path.length === from.length || path[from.length] === "/");
}

function firstSegmentOf(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}
