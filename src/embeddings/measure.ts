import { Buffer } from "node:buffer";
import type { WholeBound } from "../calls/whole_call.ts";
import type { QuantitiesBy } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import { isObject, listOf } from "../conversation/wire_value.ts";
import type { EmbeddingInput } from "../upstreams/embedding_upstream.ts";

/** What of a request determines its tokens. */
export interface EmbeddingMeasure {
  readonly inputs: number;
  /** The number of given token ids. */
  readonly ids: number;
  /** Bytes of all texts in UTF-8. */
  readonly bytes: number;
  /** Characters of all texts. */
  readonly characters: number;
  /** The number of parts other than text, such as pictures. */
  readonly media: number;
}

/** Tokens that a vendor may add to each input. */
const ADDED_TOKENS = 16;
/** Text has at least this many bytes per token. Source: docs/money.md#reservations. */
const MIN_BYTES_PER_TOKEN = 2;
const CHARACTERS_PER_TOKEN = 4;
/** No vendor counts more for a picture. */
const MAX_MEDIUM_TOKENS = 16_000;
const MEDIUM_TOKENS = 258;

/** Measures the inputs of a request. */
export function measureOf(inputs: readonly EmbeddingInput[]): EmbeddingMeasure {
  const measure = { inputs: inputs.length, ids: 0, bytes: 0, characters: 0, media: 0 };
  const add = (text: string) => {
    measure.bytes += Buffer.byteLength(text);
    measure.characters += text.length;
  };
  for (const { text, tokens, request } of inputs) {
    measure.ids += tokens?.length ?? 0;
    if (text !== null) add(text);
    else {
      for (const part of isObject(request?.content) ? listOf(request.content.parts) : []) {
        if (!isObject(part)) continue;
        if (typeof part.text === "string") add(part.text);
        else measure.media++;
      }
    }
    // The vendor embeds the title of a document with it.
    if (typeof request?.title === "string") add(request.title);
  }
  return measure;
}

/** The maximum consumption at a model. Source: docs/money.md#reservations. */
export function embeddingBound(measure: EmbeddingMeasure, { contextLength }: Model): WholeBound {
  const most = Math.ceil(measure.bytes / MIN_BYTES_PER_TOKEN) + otherTokens(measure);
  const tokens = contextLength === 0 ? most : Math.min(most, contextLength * measure.inputs);
  return { tokens, quantities: embeddingQuantities(tokens) };
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
export function checkedTokens(measure: EmbeddingMeasure, reported: unknown): CheckedTokens {
  if (reported === null || reported === undefined) return { tokens: estimatedTokens(measure), reason: "missing" };
  if (typeof reported !== "number" || !Number.isInteger(reported) || reported <= 0) {
    return { tokens: estimatedTokens(measure), reason: "unreadable" };
  }
  const ceiling = measure.bytes + otherTokens(measure);
  return reported > ceiling ? { tokens: ceiling, reason: "above_ceiling" } : { tokens: reported, reason: null };
}

/** The chargeable quantities of a request. */
export function embeddingQuantities(tokens: number): QuantitiesBy<"embedding"> {
  return { prompt: tokens, request: 1 };
}

function otherTokens({ inputs, ids, media }: EmbeddingMeasure): number {
  return ids + inputs * ADDED_TOKENS + media * MAX_MEDIUM_TOKENS;
}

function estimatedTokens({ ids, characters, media }: EmbeddingMeasure): number {
  return Math.max(1, ids + Math.ceil(characters / CHARACTERS_PER_TOKEN) + media * MEDIUM_TOKENS);
}
