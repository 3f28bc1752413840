/**
 * One address that users guess, and the one that it stands for. Paths are compared as they were sent, byte for byte and
 * in whole segments: nothing is decoded, and neither case nor `..` is overlooked.
 */
export interface Guess {
  /** What the path begins with: `/v1/v1` covers `/v1/v1` and all below. A closing slash means an empty segment. */
  readonly from: string;
  /** What stands in its place. */
  readonly to: string;
  /** What the path must end in, one of these, where its beginning leaves open what is meant. Default: anything. */
  readonly endings?: readonly string[];
  /** Whose client it must come from, where the path leaves that open. Default: anybody's. */
  readonly isClients?: (headers: Headers) => boolean;
}

/** Gives the address that a path stands for; the path itself when it is no guess. */
export type Readdress = (path: string, headers: Headers) => string;

/**
 * Above the guesses that one path can hold at once, such as a vendor's prefix, a version twice and an empty segment.
 */
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
  for (const path of settled) if (!guesses.some((guess) => concerns(guess, path))) exact.add(path);

  return (sent, headers) => {
    if (exact.has(sent)) return sent;
    let path = sent;
    for (let step = 0; step < MOST_STEPS; step++) {
      const guess = bySegment.get(firstSegmentOf(path))?.find((each) =>
        concerns(each, path) && (each.isClients === undefined || each.isClients(headers))
      );
      if (guess === undefined) return path;
      path = guess.to + path.slice(guess.from.length);
    }
    return path;
  };
}

function concerns({ from, endings }: Guess, path: string): boolean {
  const isBelow = path.startsWith(from) && (path.length === from.length || path[from.length] === "/");
  return isBelow && (endings === undefined || endings.some((ending) => path.endsWith(ending)));
}

function firstSegmentOf(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}
