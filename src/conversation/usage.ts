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

/**
 * A counter as a vendor sent it: a whole number from 0 to 10^10. Missing, negative, absurd or non-numeric values read
 * as 0, so that no reply can make a charge negative or a sum overflow.
 */
export function readCounter(value: unknown): number {
  return typeof value === "number" && value > 0 && value <= 1e10 ? Math.floor(value) : 0;
}
