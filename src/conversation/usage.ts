/**
 * What one reply consumed, in tokens, without overlap: the prompt side is `fresh + cacheRead + cacheWrite5m +
 * cacheWrite1h + toolPrompt`, the output side is `output`, of which `reasoning` is a part.
 */
export interface Usage {
  /** Prompt tokens that neither came from a cache nor were written to one. */
  readonly freshTokens: number;
  /** Prompt tokens that were read from a cache. */
  readonly cacheReadTokens: number;
  /** Written to a cache that lives five minutes, or for a span that the vendor does not name. */
  readonly cacheWrite5mTokens: number;
  /** Written to a cache that lives one hour. */
  readonly cacheWrite1hTokens: number;
  /** Prompt tokens that a vendor's own tools added (content form only). */
  readonly toolPromptTokens: number;
  /** Everything produced, reasoning included. */
  readonly outputTokens: number;
  /** The part of `outputTokens` that was thinking; 0 where the vendor does not tell. */
  readonly reasoningTokens: number;
  /** Tokens of pictures that were made, a part of the output; none when left out. */
  readonly imageOutputTokens?: number;
  /** True when the gateway counted because the vendor did not say. */
  readonly estimated?: boolean;
  /** True when a counter that the vendor sent was negative, fractional or no number. */
  readonly isUnreadable?: boolean;
}

/** Nothing consumed. */
export const NO_USAGE: Usage = {
  freshTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  toolPromptTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** All tokens on the prompt side. */
export function promptTokensOf(usage: Usage): number {
  return usage.freshTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens +
    usage.toolPromptTokens;
}

/** A counter that no request can reach: a larger one reads as this, so that no sum overflows. */
export const MAX_COUNTER_TOKENS = 1e10;

/**
 * A counter as a vendor sent it: a whole number from 0 to {@linkcode MAX_COUNTER_TOKENS}. Missing, negative and
 * non-numeric values read as 0, so that no reply can make a charge negative; see {@linkcode checkedCounters} for telling
 * them apart.
 */
export function readCounter(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(Math.min(value, MAX_COUNTER_TOKENS)) : 0;
}

/**
 * The usage, marked as unreadable when one of the counters that it was read from is.
 *
 * @param counters As the vendor sent them; those that are missing or null say nothing.
 */
export function checkedCounters(usage: Usage, counters: readonly unknown[]): Usage {
  return counters.every(isCounter) ? usage : { ...usage, isUnreadable: true };
}

/** The later of two reports of running totals, unless it counts nothing and the earlier one did. */
export function laterReport(earlier: Usage | null, later: Usage | null): Usage | null {
  if (later === null) return earlier;
  const isNothing = promptTokensOf(later) + later.outputTokens === 0;
  return earlier !== null && isNothing && promptTokensOf(earlier) + earlier.outputTokens > 0 ? earlier : later;
}

function isCounter(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "number" && value >= 0 && Number.isInteger(value));
}
