import type { QuantitiesBy, Tariff } from "../../money/billing/prices/tariff.ts";
import { type CheckedTokens, checkedTokens, maxTokensOf, type TextMeasure } from "../calls/text_measure.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { NO_USAGE, type Usage, withCounters } from "../../conversation/neutral/usage.ts";
import type { SpeechReport } from "../../vendors/upstreams/contract/speech_upstream.ts";

/** What of a request determines its cost. */
export interface SpeechMeasure {
  /** The characters of the text. */
  readonly characters: number;
  /** The text and the instructions. */
  readonly texts: TextMeasure;
}

/** The consumption of a request. */
export interface SpeechConsumption {
  readonly characters: number;
  /** Tokens of the text and the instructions. */
  readonly promptTokens: number;
  readonly audioTokens: number;
}

/** A consumption to charge. */
export interface CheckedSpeech {
  readonly consumption: SpeechConsumption;
  /** The same for the log of requests. */
  readonly usage: Usage;
  /** Why it differs from the vendor's report; null if it does not. */
  readonly reason: CheckedTokens["reason"];
}

/** Source: Gemini API reference, "Pricing": speech has 25 tokens for each second. */
const AUDIO_TOKENS_PER_SECOND = 25;
/** Speech has about 15 characters a second. */
const AUDIO_TOKENS_PER_CHARACTER = 2;
/** A digit can take a second. */
const MAX_AUDIO_TOKENS_PER_CHARACTER = 25;
/** For pauses around a short text. */
const ADDED_TOKENS = 500;

/** The maximum consumption of a request at a model. Source: docs/api/money.md#audio. */
export function maxSpeech({ characters, texts }: SpeechMeasure, model: Priced): SpeechConsumption {
  if (!hasTokenPrices(model.tariff)) return { characters, promptTokens: 0, audioTokens: 0 };
  return { characters, promptTokens: maxTokensOf(texts), audioTokens: maxAudioTokens(characters, model) };
}

/**
 * The chargeable consumption of a vendor's report. Tokens that it does not report are those of the length of the audio,
 * else estimated; none exceed the maximum. A model without prices for tokens is charged by characters alone. Source:
 * docs/api/money.md#audio.
 */
export function checkedSpeech(measure: SpeechMeasure, report: SpeechReport | null, model: Priced): CheckedSpeech {
  const { characters, texts } = measure;
  if (report === null && !hasTokenPrices(model.tariff)) {
    return { consumption: { characters, promptTokens: 0, audioTokens: 0 }, usage: NO_USAGE, reason: null };
  }
  const prompt = checkedTokens(texts, report?.promptTokens);
  const audio = checkedAudio(measure, report, model);
  const [promptTokens, audioTokens] = [prompt.tokens, audio.tokens];
  const isEstimated = [prompt, audio].some(({ reason }) => reason === "missing" || reason === "unreadable");
  const usage = withCounters(
    { ...NO_USAGE, freshTokens: promptTokens, outputTokens: audioTokens, ...isEstimated && { estimated: true } },
    { audioOutputTokens: audioTokens },
  );
  return {
    consumption: { characters, promptTokens, audioTokens },
    usage,
    reason: audio.reason === null || audio.reason === "missing" ? prompt.reason : audio.reason,
  };
}

/** The chargeable quantities. */
export function speechQuantities(consumption: SpeechConsumption): QuantitiesBy<"speech"> {
  const { characters, promptTokens, audioTokens } = consumption;
  return { character: characters, prompt: promptTokens, audio_output: audioTokens, request: 1 };
}

/** What of a model determines the cost of speech. */
type Priced = Pick<Model, "tariff" | "topProvider">;

function hasTokenPrices({ prompt, audio_output }: Tariff): boolean {
  return prompt > 0n || audio_output > 0n;
}

function maxAudioTokens(characters: number, { topProvider: { maxCompletionTokens } }: Priced): number {
  const spoken = characters * MAX_AUDIO_TOKENS_PER_CHARACTER + ADDED_TOKENS;
  return maxCompletionTokens > 0 ? Math.min(maxCompletionTokens, spoken) : spoken;
}

function checkedAudio({ characters }: SpeechMeasure, report: SpeechReport | null, model: Priced): CheckedTokens {
  const ceiling = maxAudioTokens(characters, model);
  const measured = report === null ? null : Math.ceil(report.seconds * AUDIO_TOKENS_PER_SECOND);
  const likely = Math.min(ceiling, measured ?? characters * AUDIO_TOKENS_PER_CHARACTER);
  const reported = report?.audioTokens;
  if (reported === null || reported === undefined) return { tokens: likely, reason: "missing" };
  if (typeof reported !== "number" || !Number.isInteger(reported) || reported <= 0) {
    return { tokens: likely, reason: "unreadable" };
  }
  return reported > ceiling ? { tokens: ceiling, reason: "above_ceiling" } : { tokens: reported, reason: null };
}
