import type { QuantitiesBy } from "../../money/billing/prices/tariff.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import type { TranscriptReport } from "../../vendors/upstreams/contract/transcript_upstream.ts";

/** What of a request determines its cost. */
export interface TranscriptMeasure {
  /** The length of the audio in seconds; null if its bytes do not state it. */
  readonly seconds: number | null;
  readonly bytes: number;
  /** The characters of the prompt. */
  readonly promptCharacters: number;
}

/** The consumption of a request. */
export interface TranscriptConsumption {
  readonly seconds: number;
  readonly textTokens: number;
  readonly audioTokens: number;
  readonly outputTokens: number;
}

/** A consumption to charge. */
export interface CheckedConsumption {
  readonly consumption: TranscriptConsumption;
  /** Whether tokens are estimated, because the vendor reports none. */
  readonly isEstimated: boolean;
  /** Whether a report was impossible, and was replaced. */
  readonly isCorrected: boolean;
}

/** Speech has at least this many bytes per second in every usual codec, where the length is unknown. */
const MIN_BYTES_PER_SECOND = 750;
/** The usual number, where neither the audio nor the vendor states the length. */
const BYTES_PER_SECOND = 4_000;
/** A vendor can count padding, and the start of a second as a whole one. */
const ADDED_SECONDS = 1;
/** Ten for most vendors. */
const AUDIO_TOKENS_PER_SECOND = 10;
const MAX_AUDIO_TOKENS_PER_SECOND = 50;
const MAX_OUTPUT_TOKENS_PER_SECOND = 30;
/** For short audio. */
const ADDED_TOKENS = 200;
const CHARACTERS_PER_TOKEN = 4;
/** Vendors are asked for the least reasoning of the model. */
const MAX_REASONING_TOKENS = 4_096;

/** What of a model determines the maximum. */
type Reasoning = Pick<Model, "supportedParameters">;

/** The maximum consumption of a request at a model. Source: docs/money.md#reservations. */
export function maxConsumption(
  measure: TranscriptMeasure,
  { supportedParameters }: Reasoning,
): TranscriptConsumption {
  const seconds = maxSecondsOf(measure);
  const reasoningTokens = supportedParameters.includes("reasoning") ? MAX_REASONING_TOKENS : 0;
  return {
    seconds,
    textTokens: measure.promptCharacters + ADDED_TOKENS,
    audioTokens: seconds * MAX_AUDIO_TOKENS_PER_SECOND + ADDED_TOKENS,
    outputTokens: seconds * MAX_OUTPUT_TOKENS_PER_SECOND + ADDED_TOKENS + reasoningTokens,
  };
}

/**
 * The chargeable consumption of a vendor's report. What it does not report is measured or estimated, and nothing
 * exceeds the maximum. Source: docs/money.md#corrected-usage.
 *
 * @param reply The characters of the text in the reply, and the model that wrote it.
 */
export function checkedConsumption(
  measure: TranscriptMeasure,
  report: TranscriptReport,
  { characters, model }: { readonly characters: number; readonly model: Reasoning },
): CheckedConsumption {
  const most = maxConsumption(measure, model);
  let isCorrected = false;
  const check = (reported: unknown, max: number, otherwise: number): number => {
    if (reported === null || reported === undefined) return otherwise;
    // Nothing at all is as impossible as less than nothing, unless there was nothing.
    const isImpossible = typeof reported !== "number" || !Number.isFinite(reported) || reported < 0 ||
      (reported === 0 && otherwise > 0);
    if (isImpossible) {
      isCorrected = true;
      return otherwise;
    }
    if (reported > max) isCorrected = true;
    return Math.min(reported, max);
  };
  const length = measure.seconds ?? measure.bytes / BYTES_PER_SECOND;
  const seconds = Math.ceil(check(report.seconds, most.seconds, length));
  const hasTokens = typeof report.audioTokens === "number" || typeof report.outputTokens === "number";
  const consumption = {
    seconds,
    textTokens: Math.ceil(
      check(report.textTokens, most.textTokens, hasTokens ? 0 : measure.promptCharacters / CHARACTERS_PER_TOKEN),
    ),
    audioTokens: Math.ceil(check(report.audioTokens, most.audioTokens, seconds * AUDIO_TOKENS_PER_SECOND)),
    outputTokens: Math.ceil(check(report.outputTokens, most.outputTokens, characters / CHARACTERS_PER_TOKEN)),
  };
  return { consumption, isEstimated: !hasTokens, isCorrected };
}

/** The chargeable quantities. */
export function transcriptQuantities(consumption: TranscriptConsumption): QuantitiesBy<"transcription"> {
  const { seconds, textTokens, audioTokens, outputTokens } = consumption;
  return { audio_second: seconds, prompt: textTokens, audio: audioTokens, completion: outputTokens, request: 1 };
}

function maxSecondsOf({ seconds, bytes }: TranscriptMeasure): number {
  return Math.ceil(seconds ?? bytes / MIN_BYTES_PER_SECOND) + ADDED_SECONDS;
}
