import { MAX_COUNTER_TOKENS, promptTokensOf, type Usage, withCounters } from "../../conversation/neutral/usage.ts";

/** The maximum that a vendor can have consumed for one request. */
export interface UsageLimits {
  /** The model's context; 0 if unknown, then there is no ceiling. */
  readonly contextTokens: number;
  /** The model's limit of output tokens; 0 if unknown, then the context applies. */
  readonly outputTokens: number;
  /** The number of requested choices. */
  readonly choices: number;
  /** The number of hosted tool calls in the response. After each, the vendor may read the whole prompt again. */
  readonly hostedCalls: number;
}

/** A checked usage. */
export type CheckedUsage =
  /** The usage is possible. */
  | { readonly verdict: "plausible"; readonly usage: Usage }
  /** The usage is above the ceiling; `usage` is its part below the ceiling. */
  | { readonly verdict: "above_ceiling"; readonly usage: Usage }
  /** A counter is missing, zero, negative, fractional or absurd. Only the gateway's own count can be charged. */
  | { readonly verdict: "unreadable" };

/** Further hosted tool calls in one response do not raise the ceiling. */
const MAX_HOSTED_CALLS = 50;

/** The maximum of what is no token, for one choice. Calls of hosted tools in the response raise it. */
const MAX_REPORTED = [
  ["webSearches", 100],
  ["mapSearches", 100],
  ["fileSearches", 100],
  ["webFetches", 100],
  ["imagesMade", 100],
  // Source: Mistral documentation, "OCR", the pages of one document.
  ["ocrPages", 1_000],
  // A day.
  ["audioSeconds", 86_400],
] as const;

/** What must have consumed tokens. */
export interface UsageEvidence {
  /** Whether the vendor counts prompts; some do not count those of images. */
  readonly hasPrompt: boolean;
  /** Whether the vendor sent countable output. */
  readonly hasOutput: boolean;
}

/** Checks the reported usage. The ceiling is (context + output × choices) × (hosted calls + 1). See docs/money.md. */
export function checkUsage(
  reported: Usage,
  limits: UsageLimits,
  { hasPrompt, hasOutput }: UsageEvidence,
): CheckedUsage {
  const prompt = promptTokensOf(reported);
  const output = reported.outputTokens;
  const isMissing = (hasPrompt && prompt <= 0) || (hasOutput && output <= 0);
  if (reported.isUnreadable || isMissing) return { verdict: "unreadable" };
  const ceiling = ceilingOf(limits);
  const isAbsurd = prompt >= MAX_COUNTER_TOKENS || output >= MAX_COUNTER_TOKENS;
  if (ceiling === null && isAbsurd) return { verdict: "unreadable" };
  const capped = withReportedCapped(reported, limits);
  const isAbove = ceiling !== null && prompt + output > ceiling.prompt + ceiling.output;
  if (isAbove) return { verdict: "above_ceiling", usage: cappedUsage(capped, ceiling) };
  return { verdict: capped === reported ? "plausible" : "above_ceiling", usage: capped };
}

/** Limits each count that is no count of tokens to {@linkcode MAX_REPORTED}: the context does not limit it. */
function withReportedCapped(usage: Usage, { choices, hostedCalls }: UsageLimits): Usage {
  let capped = usage;
  for (const [name, max] of MAX_REPORTED) {
    const ceiling = max * choices + Math.min(hostedCalls, MAX_HOSTED_CALLS);
    if ((usage[name] ?? 0) > ceiling) capped = { ...capped, [name]: ceiling };
  }
  return capped;
}

/** The maximum number of tokens of each side. */
export interface UsageCeiling {
  readonly prompt: number;
  readonly output: number;
}

/** The ceiling of one request; null if the model's context is unknown. */
export function ceilingOf(limits: UsageLimits): UsageCeiling | null {
  const { contextTokens, outputTokens, choices, hostedCalls } = limits;
  if (contextTokens === 0) return null;
  const passes = Math.min(hostedCalls, MAX_HOSTED_CALLS) + 1;
  return { prompt: contextTokens * passes, output: (outputTokens || contextTokens) * choices * passes };
}

/** Reduces the counters of each side in proportion if their sum exceeds its ceiling. */
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
