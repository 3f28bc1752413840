import type { QuantitiesBy } from "../../money/billing/prices/tariff.ts";
import type { TextMeasure } from "../calls/text_measure.ts";

/** Source: Cohere documentation, "How does Cohere pricing work": a query with up to 100 documents is one unit. */
const DOCUMENTS_PER_UNIT = 100;
/** Source: as above: a document with its query above 500 tokens is split, and each part counts as a document. */
const TOKENS_PER_PART = 500;

/** A count of search units, and whether a report was corrected. */
export interface CheckedUnits {
  readonly units: number;
  readonly isCorrected: boolean;
}

/**
 * The maximum number of search units of a request.
 *
 * @param bytesPerToken The minimum.
 */
export function maxUnitsOf({ inputs, bytes }: TextMeasure, bytesPerToken: number): number {
  return Math.ceil((inputs + bytes / (TOKENS_PER_PART * bytesPerToken)) / DOCUMENTS_PER_UNIT);
}

/**
 * The chargeable search units. A text has at most one token per byte.
 *
 * @param reported As the vendor wrote it; null or undefined if it reports none.
 */
export function checkedUnits(measure: TextMeasure, reported: unknown): CheckedUnits {
  const estimated = Math.ceil(measure.inputs / DOCUMENTS_PER_UNIT);
  if (reported === null || reported === undefined) return { units: estimated, isCorrected: false };
  if (typeof reported !== "number" || !Number.isInteger(reported) || reported <= 0) {
    return { units: estimated, isCorrected: true };
  }
  const ceiling = maxUnitsOf(measure, 1);
  return { units: Math.min(reported, ceiling), isCorrected: reported > ceiling };
}

/** The chargeable quantities of a request. */
export function rankQuantities(tokens: number, units: number): QuantitiesBy<"rerank"> {
  return { prompt: tokens, search_unit: units, request: 1 };
}
