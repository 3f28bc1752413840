/**
 * Tokens consumed by one reply, counted without overlap. The prompt side is `fresh + cacheRead + cacheWrite5m +
 * cacheWrite1h + toolPrompt`. The output side is `output`, which includes `reasoning`.
 */
export interface Usage {
  /** Prompt tokens neither read from nor written to a cache. */
  readonly freshTokens: number;
  /** Prompt tokens read from a cache. */
  readonly cacheReadTokens: number;
  /** Tokens written to a cache with another lifetime than an hour: five minutes, unless a counter below names it. */
  readonly cacheWrite5mTokens: number;
  /** Tokens written to a cache with a lifetime of one hour. */
  readonly cacheWrite1hTokens: number;
  /** Prompt tokens that a vendor's own tools added (content format only). */
  readonly toolPromptTokens: number;
  /** All output, reasoning included. */
  readonly outputTokens: number;
  /** The part of `outputTokens` spent on reasoning; 0 where the vendor does not report it. */
  readonly reasoningTokens: number;
  /** The part of `cacheWrite5mTokens` that lives thirty minutes. Optional counters are absent when zero. */
  readonly cacheWrite30mTokens?: number;
  /** The part of `cacheWrite5mTokens` that lives twelve hours. */
  readonly cacheWrite12hTokens?: number;
  /** The part of `cacheWrite5mTokens` that lives a day. */
  readonly cacheWrite24hTokens?: number;
  /** The part of fresh and tool prompt tokens that are images. */
  readonly imageInputTokens?: number;
  /** The part of `cacheReadTokens` that are images. */
  readonly imageCacheReadTokens?: number;
  /** The part of fresh and tool prompt tokens that are audio. */
  readonly audioInputTokens?: number;
  /** The part of `cacheReadTokens` that are audio. */
  readonly audioCacheReadTokens?: number;
  /** The part of `outputTokens` that are images. */
  readonly imageOutputTokens?: number;
  /** The part of `outputTokens` that are audio. */
  readonly audioOutputTokens?: number;
  /** The part of `outputTokens` that are video. */
  readonly videoOutputTokens?: number;
  /** Searches by the vendor's search tool. */
  readonly webSearches?: number;
  /** Searches by the vendor in maps. */
  readonly mapSearches?: number;
  /** Searches by the vendor in stored files. */
  readonly fileSearches?: number;
  /** Pages that the vendor's own tool read. */
  readonly webFetches?: number;
  /** Pages of documents whose text the vendor recognized. */
  readonly ocrPages?: number;
  /** Seconds of audio in the prompt, where the vendor charges for them beside its tokens. */
  readonly audioSeconds?: number;
  /** Images in the reply. */
  readonly imagesMade?: number;
  /** Usage of other models, such as an advisor, included in all counters; absent when there is none. */
  readonly otherModels?: readonly ModelUsage[];
  /** The service tier that the reply names, in lower case; absent for the default tier. */
  readonly serviceTier?: string;
  /** The region that the reply names, in lower case; absent if it names none. */
  readonly region?: string;
  /** True when the gateway estimated the counts because the vendor reported none. */
  readonly estimated?: boolean;
  /** True when the vendor sent a counter that is negative, fractional or not a number. */
  readonly isUnreadable?: boolean;
}

/** Usage of one other model in a reply. */
export interface ModelUsage {
  /** The vendor's name of the model. */
  readonly model: string;
  /** Its counters. */
  readonly usage: Usage;
}

/** A counter that is absent when zero. */
export type OptionalCounter =
  | "cacheWrite30mTokens"
  | "cacheWrite12hTokens"
  | "cacheWrite24hTokens"
  | "imageInputTokens"
  | "imageCacheReadTokens"
  | "audioInputTokens"
  | "audioCacheReadTokens"
  | "imageOutputTokens"
  | "audioOutputTokens"
  | "videoOutputTokens"
  | "webSearches"
  | "mapSearches"
  | "fileSearches"
  | "webFetches"
  | "ocrPages"
  | "audioSeconds"
  | "imagesMade";

/** What the content of a reply shows beside its usage, counted as the reply is read. */
export interface ContentCounters {
  /** Searches by the vendor's own search tool. */
  webSearches: number;
  /** Searches in stored files. Default: none. */
  fileSearches?: number;
  /** Images in the reply. */
  imagesMade: number;
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

/** All tokens of both sides; 0 without usage. Counters that are zero may be missing. */
export function allTokensOf(usage: Partial<Usage> | undefined): number {
  if (usage === undefined) return 0;
  return (usage.freshTokens ?? 0) + (usage.cacheReadTokens ?? 0) + (usage.cacheWrite5mTokens ?? 0) +
    (usage.cacheWrite1hTokens ?? 0) + (usage.toolPromptTokens ?? 0) + (usage.outputTokens ?? 0);
}

/** Upper bound of a counter, above any real count: larger values are read as this, so that no sum overflows. */
export const MAX_COUNTER_TOKENS = 1e10;

/** The usage of the main model: without the usage of other models. */
export function withoutModels(usage: Usage): Usage {
  const { otherModels, ...own } = usage;
  if (!otherModels) return usage;
  const others = (counter: TokenCounter) => otherModels.reduce((sum, { usage: other }) => sum + other[counter], 0);
  const left = TOKEN_COUNTERS.map((counter) => [counter, Math.max(0, own[counter] - others(counter))]);
  return { ...own, ...Object.fromEntries(left) };
}

/** The usage as if no cache had been read or written; the same object if none was. */
export function withoutCache(usage: Usage): Usage {
  const { cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, ...rest } = usage;
  const cached = cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens;
  if (cached === 0) return usage;
  const { imageCacheReadTokens = 0, audioCacheReadTokens = 0, ...own } = rest;
  const { cacheWrite30mTokens: _half, cacheWrite12hTokens: _hours, cacheWrite24hTokens: _day, ...counters } = own;
  return withCounters({
    ...counters,
    freshTokens: counters.freshTokens + cached,
    cacheReadTokens: 0,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
  }, {
    imageInputTokens: (counters.imageInputTokens ?? 0) + imageCacheReadTokens,
    audioInputTokens: (counters.audioInputTokens ?? 0) + audioCacheReadTokens,
  });
}

/** The usage with optional counters added; those that are zero are left out. */
export function withCounters<U extends Partial<Usage>>(
  usage: U,
  counters: Readonly<Partial<Record<OptionalCounter, number>>>,
): U {
  let counted: U | null = null;
  for (const name in counters) {
    const count = counters[name as OptionalCounter] ?? 0;
    if (count > 0) counted = { ...counted ?? usage, [name]: count };
  }
  return counted ?? usage;
}

/**
 * Splits the tokens of one medium into fresh and cached ones. If the vendor does not report cached tokens, as many as
 * possible count as fresh, which is never cheaper.
 *
 * @param tokens Tokens of the medium on the prompt side.
 * @param cachedTokens Tokens of the medium read from a cache; null where the vendor does not report them.
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

/** The service tier in a reply or request, in lower case; null when it names none. */
export function readTier(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const tier = value.toLowerCase().replace(/^service_tier_/, "");
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(tier) ? tier : null;
}

/** Names in all formats of the default tier, or of leaving the choice to the vendor. */
const DEFAULT_TIERS: ReadonlySet<string> = new Set([
  "auto",
  "default",
  "standard",
  "standard_only",
  "on_demand",
  "unspecified",
]);

/** Whether a service tier is the one that a model's `pricing` applies to. */
export function isDefaultTier(tier: string): boolean {
  return DEFAULT_TIERS.has(tier);
}

/** The usage with the tier that a reply names, unless it is the default one. */
export function withTier(usage: Usage, value: unknown): Usage {
  const serviceTier = readTier(value);
  return serviceTier === null || isDefaultTier(serviceTier) ? usage : { ...usage, serviceTier };
}

/**
 * The parts of cache writes by their lifetime, as OpenAI's formats count them. Source: Responses API reference,
 * `cache_write_tokens_details`.
 *
 * @param details The object with the parts; anything else counts none.
 * @param written All cache writes.
 */
export function lifetimesIn(
  details: unknown,
  written: number,
): Readonly<Partial<Record<OptionalCounter, number>>> {
  if (typeof details !== "object" || details === null) return {};
  const { ttl_30m_tokens, ttl_12h_tokens, ttl_24h_tokens } = details as Readonly<Record<string, unknown>>;
  const day = Math.min(readCounter(ttl_24h_tokens), written);
  const halfDay = Math.min(readCounter(ttl_12h_tokens), written - day);
  const halfHour = Math.min(readCounter(ttl_30m_tokens), written - day - halfDay);
  return { cacheWrite24hTokens: day, cacheWrite12hTokens: halfDay, cacheWrite30mTokens: halfHour };
}

/** A region as it is compared with prices; null for none. */
function readRegion(value: unknown): string | null {
  return typeof value === "string" && /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value) ? value.toLowerCase() : null;
}

/** The usage with the region that a reply names. */
export function withRegion(usage: Usage, value: unknown): Usage {
  const region = readRegion(value);
  return region === null ? usage : { ...usage, region };
}

/** The usage with counters raised to the given counts where its own are lower. */
export function withAtLeast<U extends Usage | null>(
  usage: U,
  counted: Readonly<Partial<Record<OptionalCounter, number>>>,
): U {
  if (usage === null) return usage;
  let higher: U = usage;
  for (const name in counted) {
    const count = counted[name as OptionalCounter] ?? 0;
    if (count > (usage[name as OptionalCounter] ?? 0)) higher = { ...higher, [name]: count };
  }
  return higher;
}

/**
 * The usage of a reply with pictures whose tokens the vendor does not report by medium: the output without reasoning
 * and other media counts as pictures, so that a picture is not charged at the price of text.
 */
export function withImageTokens<U extends Usage | null>(usage: U): U {
  if (usage === null || !usage.imagesMade || usage.imageOutputTokens !== undefined) return usage;
  const { outputTokens, reasoningTokens, audioOutputTokens = 0, videoOutputTokens = 0 } = usage;
  return withCounters<NonNullable<U>>(usage, {
    imageOutputTokens: outputTokens - reasoningTokens - audioOutputTokens - videoOutputTokens,
  });
}

/**
 * Reads a counter as a whole number from 0 to {@linkcode MAX_COUNTER_TOKENS}. Missing, negative and non-numeric values
 * are read as 0, so that no reply can make a charge negative. {@linkcode checkedCounters} detects them.
 */
export function readCounter(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(Math.min(value, MAX_COUNTER_TOKENS)) : 0;
}

/**
 * The output side of the usage. If there are more reasoning tokens than output tokens, the vendor counts them
 * separately, and the sum is the output, unless a total shows that they are part of it: some vendors count reasoning
 * with another tokenizer, slightly above the output that contains it.
 *
 * @param reportedOutputTokens The vendor's count of output tokens.
 * @param reportedReasoningTokens The vendor's count of reasoning tokens.
 * @param isInside Whether reasoning is part of the output, by the vendor's total or its format. Default: unknown.
 */
export function outputSideOf(
  reportedOutputTokens: number,
  reportedReasoningTokens: number,
  isInside = false,
): Pick<Usage, "outputTokens" | "reasoningTokens"> {
  if (isInside) {
    const outputTokens = reportedOutputTokens === 0 ? reportedReasoningTokens : reportedOutputTokens;
    return { outputTokens, reasoningTokens: Math.min(reportedReasoningTokens, outputTokens) };
  }
  const areSeparate = reportedReasoningTokens > reportedOutputTokens;
  const outputTokens = Math.min(
    areSeparate ? reportedOutputTokens + reportedReasoningTokens : reportedOutputTokens,
    MAX_COUNTER_TOKENS,
  );
  return { outputTokens, reasoningTokens: reportedReasoningTokens };
}

/**
 * Marks the usage as unreadable when one of its source counters is invalid.
 *
 * @param counters As the vendor sent them; missing or null counters are valid.
 */
export function checkedCounters(usage: Usage, counters: readonly unknown[]): Usage {
  return counters.every(isCounter) ? usage : { ...usage, isUnreadable: true };
}

/** The later of two reports of running totals, or the earlier one if the later counts nothing. */
export function laterReport(earlier: Usage | null, later: Usage | null): Usage | null {
  if (later === null) return earlier;
  const isZero = promptTokensOf(later) + later.outputTokens === 0;
  return earlier !== null && isZero && promptTokensOf(earlier) + earlier.outputTokens > 0 ? earlier : later;
}

function isCounter(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "number" && value >= 0 && Number.isInteger(value));
}
