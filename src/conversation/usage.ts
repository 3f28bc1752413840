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
  /** The part of fresh and tool prompt tokens that images took. Optional counters are left out when zero. */
  readonly imageInputTokens?: number;
  /** The part of `cacheReadTokens` that images took. */
  readonly imageCacheReadTokens?: number;
  /** The part of fresh and tool prompt tokens that audio took. */
  readonly audioInputTokens?: number;
  /** The part of `cacheReadTokens` that audio took. */
  readonly audioCacheReadTokens?: number;
  /** The part of `outputTokens` that images took. */
  readonly imageOutputTokens?: number;
  /** The part of `outputTokens` that audio took. */
  readonly audioOutputTokens?: number;
  /** The part of `outputTokens` that video took. */
  readonly videoOutputTokens?: number;
  /** Searches by the vendor's own search tool. */
  readonly webSearches?: number;
  /** Images in the reply. */
  readonly imagesMade?: number;
  /** The parts of all counters that other models consumed, such as an advisor; left out when there is none. */
  readonly otherModels?: readonly ModelUsage[];
  /** The service tier that the reply names, in lower case; left out when it names none or the usual one. */
  readonly serviceTier?: string;
  /** True when the gateway counted because the vendor did not say. */
  readonly estimated?: boolean;
  /** True when a counter that the vendor sent was negative, fractional or no number. */
  readonly isUnreadable?: boolean;
}

/** What one other model consumed of a reply. */
export interface ModelUsage {
  /** As the vendor calls it. */
  readonly model: string;
  /** Its counters. */
  readonly usage: Usage;
}

/** A counter that is left out when zero. */
export type OptionalCounter =
  | "imageInputTokens"
  | "imageCacheReadTokens"
  | "audioInputTokens"
  | "audioCacheReadTokens"
  | "imageOutputTokens"
  | "audioOutputTokens"
  | "videoOutputTokens"
  | "webSearches"
  | "imagesMade";

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

const TOKEN_COUNTERS = [
  "freshTokens",
  "cacheReadTokens",
  "cacheWrite5mTokens",
  "cacheWrite1hTokens",
  "toolPromptTokens",
  "outputTokens",
  "reasoningTokens",
] as const;

type TokenCounter = typeof TOKEN_COUNTERS[number];

/** All tokens on the prompt side. */
export function promptTokensOf(usage: Usage): number {
  return usage.freshTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens +
    usage.toolPromptTokens;
}

/** A counter that no request can reach: a larger one reads as this, so that no sum overflows. */
export const MAX_COUNTER_TOKENS = 1e10;

/** What the model itself consumed: the usage without what other models did. */
export function withoutModels(usage: Usage): Usage {
  const { otherModels, ...own } = usage;
  if (!otherModels) return usage;
  const others = (counter: TokenCounter) => otherModels.reduce((sum, { usage: other }) => sum + other[counter], 0);
  const left = TOKEN_COUNTERS.map((counter) => [counter, Math.max(0, own[counter] - others(counter))]);
  return { ...own, ...Object.fromEntries(left) };
}

/** The usage with optional counters; those that are zero are left out. */
export function withCounters<U extends Partial<Usage>>(
  usage: U,
  counters: Readonly<Partial<Record<OptionalCounter, number>>>,
): U {
  const counted = Object.entries(counters).filter(([, count]) => count > 0);
  return counted.length === 0 ? usage : { ...usage, ...Object.fromEntries(counted) };
}

/**
 * A part of the prompt by where it was counted. Vendors that do not tell how much of it came from a cache are taken to
 * have read it anew as far as possible, which is never the cheaper reading.
 *
 * @param tokens Of that medium, on the whole prompt side.
 * @param cachedTokens Of that medium, from a cache; null where the vendor does not tell.
 * @param usage The prompt's other counters.
 */
export function mediumTokensOf(
  tokens: number,
  cachedTokens: number | null,
  usage: Pick<Usage, "freshTokens" | "toolPromptTokens" | "cacheReadTokens">,
): { readonly fresh: number; readonly cached: number } {
  const unread = usage.freshTokens + usage.toolPromptTokens;
  const cached = Math.min(cachedTokens ?? Math.max(0, tokens - unread), tokens, usage.cacheReadTokens);
  return { fresh: Math.min(tokens - cached, unread), cached };
}

/** A service tier as a reply or request names it, in lower case; null when it names none. */
export function readTier(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const tier = value.toLowerCase().replace(/^service_tier_/, "");
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(tier) ? tier : null;
}

/** The words of all formats for the tier that is usual, or for leaving the choice to the vendor. */
const USUAL_TIERS: ReadonlySet<string> = new Set([
  "auto",
  "default",
  "standard",
  "standard_only",
  "on_demand",
  "unspecified",
]);

/** Whether a service tier is the one that a model's `pricing` is for. */
export function isUsualTier(tier: string): boolean {
  return USUAL_TIERS.has(tier);
}

/** The usage with the tier that a reply names, unless it is the usual one. */
export function withTier(usage: Usage, value: unknown): Usage {
  const serviceTier = readTier(value);
  return serviceTier === null || isUsualTier(serviceTier) ? usage : { ...usage, serviceTier };
}

/** The usage with counters that others have counted, where it names less itself. */
export function withAtLeast<U extends Usage | null>(
  usage: U,
  counted: Readonly<Partial<Record<OptionalCounter, number>>>,
): U {
  if (usage === null) return usage;
  const higher = Object.entries(counted).filter(([name, count]) => count > (usage[name as OptionalCounter] ?? 0));
  return higher.length === 0 ? usage : { ...usage, ...Object.fromEntries(higher) };
}

/**
 * A counter as a vendor sent it: a whole number from 0 to {@linkcode MAX_COUNTER_TOKENS}. Missing, negative and
 * non-numeric values read as 0, so that no reply can make a charge negative; see {@linkcode checkedCounters} for
 * telling them apart.
 */
export function readCounter(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(Math.min(value, MAX_COUNTER_TOKENS)) : 0;
}

/**
 * The output side as a vendor counts it. Where more was thought than produced, the vendor leaves the thoughts out of
 * what was produced, and both count.
 *
 * @param producedTokens What the vendor says was produced.
 * @param thoughtTokens What it says was thought.
 */
export function outputSideOf(
  producedTokens: number,
  thoughtTokens: number,
): Pick<Usage, "outputTokens" | "reasoningTokens"> {
  const isLeftOut = thoughtTokens > producedTokens;
  const outputTokens = Math.min(isLeftOut ? producedTokens + thoughtTokens : producedTokens, MAX_COUNTER_TOKENS);
  return { outputTokens, reasoningTokens: thoughtTokens };
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
