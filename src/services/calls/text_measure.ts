import { Buffer } from "node:buffer";
import { NO_USAGE, type Usage } from "../../conversation/neutral/usage.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { WholeAttempt } from "./whole_call.ts";

/** What of the texts of a request determines its tokens. */
export interface TextMeasure {
  /** The number of texts. */
  inputs: number;
  /** The number of given token ids. */
  ids: number;
  /** Bytes of all texts in UTF-8. */
  bytes: number;
  /** Characters of all texts. */
  characters: number;
  /** The number of parts other than text, such as pictures. */
  media: number;
}

/** Tokens that a vendor may add to each text. */
const ADDED_TOKENS = 16;
/** Text has at least this many bytes per token. Source: docs/money.md#reservations. */
const MIN_BYTES_PER_TOKEN = 2;
const CHARACTERS_PER_TOKEN = 4;
/** No vendor counts more for a picture. */
const MAX_MEDIUM_TOKENS = 16_000;
const MEDIUM_TOKENS = 258;

/** Measures texts, of which each is one input. */
export function measureTexts(texts: readonly string[]): TextMeasure {
  const measure = { inputs: texts.length, ids: 0, bytes: 0, characters: 0, media: 0 };
  for (const text of texts) addText(measure, text);
  return measure;
}

/** Adds a text that is no input of its own. */
export function addText(measure: TextMeasure, text: string): void {
  measure.bytes += Buffer.byteLength(text);
  measure.characters += text.length;
}

/** The maximum number of tokens. Source: docs/money.md#reservations. */
export function maxTokensOf(measure: TextMeasure): number {
  return Math.ceil(measure.bytes / MIN_BYTES_PER_TOKEN) + otherTokens(measure);
}

/** A count of tokens, and why it differs from the report; null if it does not. */
export interface CheckedTokens {
  readonly tokens: number;
  readonly reason: "missing" | "unreadable" | "above_ceiling" | null;
}

/**
 * The chargeable tokens of a vendor's report. A text has at most one token per byte. Source:
 * docs/money.md#corrected-usage.
 *
 * @param reported As the vendor wrote it; null or undefined if it reports none.
 */
export function checkedTokens(measure: TextMeasure, reported: unknown): CheckedTokens {
  if (reported === null || reported === undefined) return { tokens: estimatedTokens(measure), reason: "missing" };
  if (typeof reported !== "number" || !Number.isInteger(reported) || reported <= 0) {
    return { tokens: estimatedTokens(measure), reason: "unreadable" };
  }
  const ceiling = measure.bytes + otherTokens(measure);
  return reported > ceiling ? { tokens: ceiling, reason: "above_ceiling" } : { tokens: reported, reason: null };
}

/** The usage of a request without output. */
export function inputUsage({ tokens, reason }: CheckedTokens): Usage {
  const isEstimated = reason === "missing" || reason === "unreadable";
  return { ...NO_USAGE, freshTokens: tokens, ...isEstimated && { estimated: true } };
}

/**
 * Logs a report that was corrected.
 *
 * @param reported The tokens as the vendor wrote them.
 */
export function logCorrected(
  log: Log,
  { reason }: Pick<CheckedTokens, "reason">,
  reported: unknown,
  attempt: Pick<WholeAttempt<unknown>, "caller" | "candidate" | "model">,
): void {
  if (reason === null || reason === "missing") return;
  const { caller: { requestId, accountId }, candidate: { provider }, model: { id: model } } = attempt;
  const inputTokens = typeof reported === "number" ? reported : undefined;
  log.warn("usage_implausible", { requestId, accountId, model, provider, reason, inputTokens });
}

function otherTokens({ inputs, ids, media }: TextMeasure): number {
  return ids + inputs * ADDED_TOKENS + media * MAX_MEDIUM_TOKENS;
}

function estimatedTokens({ ids, characters, media }: TextMeasure): number {
  return Math.max(1, ids + Math.ceil(characters / CHARACTERS_PER_TOKEN) + media * MEDIUM_TOKENS);
}
