/**
 * A rule that replaces the prefix of a path. Paths are compared byte for byte and in whole segments; they are not
 * decoded, and case and `..` matter.
 */
export interface RewriteRule {
  /** The prefix: `/v1/v1` matches `/v1/v1` and all paths below. A final slash matches an empty segment. */
  readonly from: string;
  /** The replacement of the prefix. */
  readonly to: string;
  /** The path must end in one of these. Default: any end. */
  readonly endings?: readonly string[];
  /** Whether the client that sent these headers is meant. Default: any client. */
  readonly matchesHeaders?: (headers: Headers) => boolean;
}

/** Gives the rewritten path; the same path if no rule matches. */
export type PathRewriter = (path: string, headers: Headers) => string;

/**
 * More than the mistakes that one path can combine, such as a vendor's prefix, a double version and an empty segment.
 */
const MAX_STEPS = 5;

/**
 * Compiles rules. The first rule that matches is applied, and again to its result, at most five times. A path without a
 * matching rule costs one look-up.
 *
 * @param knownPaths Paths of endpoints. They are looked up first, unless a rule matches them.
 */
export function createPathRewriter(
  rules: readonly RewriteRule[],
  knownPaths: Iterable<string> = [],
): PathRewriter {
  const bySegment = new Map<string, RewriteRule[]>();
  for (const rule of rules) {
    const segment = firstSegmentOf(rule.from);
    bySegment.set(segment, [...bySegment.get(segment) ?? [], rule]);
  }
  const exact = new Set<string>();
  for (const path of knownPaths) if (!rules.some((rule) => matches(rule, path))) exact.add(path);

  return (sent, headers) => {
    if (exact.has(sent)) return sent;
    let path = sent;
    for (let step = 0; step < MAX_STEPS; step++) {
      const rule = bySegment.get(firstSegmentOf(path))?.find((each) =>
        matches(each, path) && (each.matchesHeaders === undefined || each.matchesHeaders(headers))
      );
      if (rule === undefined) return path;
      path = rule.to + path.slice(rule.from.length);
    }
    return path;
  };
}

function matches({ from, endings }: RewriteRule, path: string): boolean {
  const isBelow = path.startsWith(from) && (path.length === from.length || path[from.length] === "/");
  return isBelow && (endings === undefined || endings.some((ending) => path.endsWith(ending)));
}

function firstSegmentOf(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}
