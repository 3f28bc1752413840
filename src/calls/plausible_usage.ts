import { MAX_COUNTER_TOKENS, promptTokensOf, type Usage, withCounters } from "../conversation/usage.ts";

/** What a vendor can have consumed at most for one request. */
export interface UsageLimits {
  /** The model's context; 0 when it is not known, and then there is no ceiling. */
  readonly contextTokens: number;
  /** The model's own limit of output tokens; 0 when it is not known, and then the context holds. */
  readonly outputTokens: number;
  /** Replies that were asked for. */
  readonly choices: number;
  /** Calls of hosted tools in the reply: after each, the vendor may read the whole prompt again. */
  readonly hostedCalls: number;
}

/** A usage that was checked. */
export type CheckedUsage =
  /** It may be true. */
  | { readonly verdict: "plausible"; readonly usage: Usage }
  /** It is above the ceiling; the usage is the part of it below the ceiling. */
  | { readonly verdict: "above_ceiling"; readonly usage: Usage }
  /** A counter is missing, zero, negative, fractional or absurd: only a count of the gateway's own can be charged. */
  | { readonly verdict: "unreadable" };

/** More calls of hosted tools in one reply raise the ceiling no further. */
const MAX_HOSTED_CALLS = 50;

/** Searches that a vendor can count in one reply. */
const MAX_SEARCHES = 100;

/** What cannot have consumed nothing. */
export interface SeenUsage {
  /** Whether the vendor counts prompts; those of pictures do not always. */
  readonly hasPrompt: boolean;
  /** Whether the vendor sent anything that it counts, so that it cannot have produced nothing. */
  readonly hasOutput: boolean;
}

/**
 * Checks what a vendor reported. The ceiling is (context + output × choices) × (hosted calls + 1). See docs/money.md.
 */
export function checkUsage(reported: Usage, limits: UsageLimits, { hasPrompt, hasOutput }: SeenUsage): CheckedUsage {
  const prompt = promptTokensOf(reported);
  const output = reported.outputTokens;
  const isMissing = (hasPrompt && prompt <= 0) || (hasOutput && output <= 0);
  if (reported.isUnreadable || isMissing) return { verdict: "unreadable" };
  const ceiling = ceilingOf(limits);
  const isAbsurd = prompt >= MAX_COUNTER_TOKENS || output >= MAX_COUNTER_TOKENS;
  if (ceiling === null && isAbsurd) return { verdict: "unreadable" };
  const searched = withSearchesCapped(reported, limits);
  const isAbove = ceiling !== null && prompt + output > ceiling.prompt + ceiling.output;
  if (isAbove) return { verdict: "above_ceiling", usage: cappedUsage(searched, ceiling) };
  return { verdict: searched === reported ? "plausible" : "above_ceiling", usage: searched };
}

/**
 * Searches of one reply that are believed without a sign of them: as many as {@linkcode MAX_SEARCHES} for each choice.
 */
function withSearchesCapped(usage: Usage, { choices, hostedCalls }: UsageLimits): Usage {
  const ceiling = MAX_SEARCHES * choices + hostedCalls;
  return (usage.webSearches ?? 0) > ceiling ? { ...usage, webSearches: ceiling } : usage;
}

/** The most tokens of both sides. */
export interface UsageCeiling {
  readonly prompt: number;
  readonly output: number;
}

/** The ceiling of one request; null when the model's context is not known. */
export function ceilingOf(limits: UsageLimits): UsageCeiling | null {
  const { contextTokens, outputTokens, choices, hostedCalls } = limits;
  if (contextTokens === 0) return null;
  const passes = Math.min(hostedCalls, MAX_HOSTED_CALLS) + 1;
  return { prompt: contextTokens * passes, output: (outputTokens || contextTokens) * choices * passes };
}

/** The counters of each side, made smaller in proportion where they exceed its ceiling together. */
function cappedUsage(usage: Usage, ceiling: UsageCeiling): Usage {
  const reported = promptTokensOf(usage);
  const promptShare = reported === 0 ? 1 : Math.min(1, ceiling.prompt / reported);
  const outputShare = usage.outputTokens === 0 ? 1 : Math.min(1, ceiling.output / usage.outputTokens);
  const prompt = (tokens: number) => Math.floor(tokens * promptShare);
  const output = (tokens: number) => Math.floor(tokens * outputShare);
  return scaled(usage, prompt, output);
}

function scaled(usage: Usage, prompt: (tokens: number) => number, output: (tokens: number) => number): Usage {
  const { otherModels } = usage;
  return {
    ...usage,
    freshTokens: prompt(usage.freshTokens),
    cacheReadTokens: prompt(usage.cacheReadTokens),
    cacheWrite5mTokens: prompt(usage.cacheWrite5mTokens),
    cacheWrite1hTokens: prompt(usage.cacheWrite1hTokens),
    toolPromptTokens: prompt(usage.toolPromptTokens),
    outputTokens: output(usage.outputTokens),
    reasoningTokens: output(usage.reasoningTokens),
    ...withCounters({}, {
      imageInputTokens: prompt(usage.imageInputTokens ?? 0),
      imageCacheReadTokens: prompt(usage.imageCacheReadTokens ?? 0),
      audioInputTokens: prompt(usage.audioInputTokens ?? 0),
      audioCacheReadTokens: prompt(usage.audioCacheReadTokens ?? 0),
      imageOutputTokens: output(usage.imageOutputTokens ?? 0),
      audioOutputTokens: output(usage.audioOutputTokens ?? 0),
      videoOutputTokens: output(usage.videoOutputTokens ?? 0),
    }),
    ...otherModels
      ? { otherModels: otherModels.map((other) => ({ ...other, usage: scaled(other.usage, prompt, output) })) }
      : {},
  };
}
