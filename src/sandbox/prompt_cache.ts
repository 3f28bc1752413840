import { createHash } from "node:crypto";
import type { Segment } from "./tokens.ts";

/** The tokens of a prompt that were read from a cache, written to it, and not cached. */
export interface CacheShares {
  readonly readTokens: number;
  readonly written5mTokens: number;
  readonly written1hTokens: number;
}

/** Shorter prefixes are cached only at a marker. Source: vendors' prompt caching guides. */
const MIN_PREFIX_TOKENS = 1024;
const MAX_PREFIXES = 10_000;

/**
 * Where a vendor caches: only at markers, or also at the end of a prompt, and reports the tokens that it wrote; or at
 * any length, without such a report.
 */
export type CachedAt = "markers" | "markers_and_end" | "any_length";

/** The end of a prefix that may be cached. */
interface Boundary {
  readonly hash: string;
  /** The tokens of the whole prefix. */
  readonly tokens: number;
  readonly ttl: "5m" | "1h" | null;
}

/** The known prefixes of all vendors of a sandbox. They do not expire; the oldest are replaced. */
export class PromptCache {
  readonly #prefixes = new Set<string>();

  /**
   * Looks up the longest known prefix of a prompt and stores the prompt's own prefixes.
   *
   * @param scope Vendor and model. Two scopes share nothing.
   */
  account(scope: string, segments: readonly Segment[], at: CachedAt): CacheShares {
    const boundaries = boundariesOf(scope, segments, at);
    const known = boundaries.findLast(({ hash }) => this.#prefixes.has(hash));
    const readTokens = known?.tokens ?? 0;
    const written = { "5m": 0, "1h": 0 };
    let before = readTokens;
    for (const { tokens, ttl } of at === "any_length" ? [] : boundaries) {
      if (tokens <= before) continue;
      written[ttl ?? "5m"] += tokens - before;
      before = tokens;
    }
    for (const { hash } of boundaries) this.#keep(hash);
    return { readTokens, written5mTokens: written["5m"], written1hTokens: written["1h"] };
  }

  #keep(hash: string): void {
    this.#prefixes.add(hash);
    if (this.#prefixes.size > MAX_PREFIXES) this.#prefixes.delete(this.#prefixes.keys().next().value!);
  }
}

function boundariesOf(scope: string, segments: readonly Segment[], at: CachedAt): Boundary[] {
  const boundaries: Boundary[] = [];
  let hash = scope;
  let tokens = 0;
  for (const [index, segment] of segments.entries()) {
    hash = createHash("sha256").update(`${hash}\n${segment.text}`).digest("base64");
    tokens += segment.tokens;
    const isEnd = at === "any_length" || (at === "markers_and_end" && index === segments.length - 1);
    const isLong = isEnd && tokens >= MIN_PREFIX_TOKENS;
    if (isLong || segment.cache) boundaries.push({ hash, tokens, ttl: segment.cache?.ttl ?? null });
  }
  return boundaries;
}
