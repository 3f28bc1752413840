import type { QuantitiesBy } from "../../money/billing/prices/tariff.ts";
import { addText, maxTokensOf, type TextMeasure } from "../calls/text_measure.ts";
import type { WholeBound } from "../calls/whole_call.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { isObject, listOf } from "../../conversation/neutral/wire_value.ts";
import type { EmbeddingInput } from "../../vendors/upstreams/contract/embedding_upstream.ts";

/** Measures the inputs of a request. */
export function measureOf(inputs: readonly EmbeddingInput[]): TextMeasure {
  const measure: TextMeasure = { inputs: inputs.length, ids: 0, bytes: 0, characters: 0, media: 0 };
  for (const { text, tokens, request } of inputs) {
    measure.ids += tokens?.length ?? 0;
    if (text !== null) addText(measure, text);
    else {
      for (const part of isObject(request?.content) ? listOf(request.content.parts) : []) {
        if (!isObject(part)) continue;
        if (typeof part.text === "string") addText(measure, part.text);
        else measure.media++;
      }
    }
    // The vendor embeds the title of a document with it.
    if (typeof request?.title === "string") addText(measure, request.title);
  }
  return measure;
}

/** The maximum consumption at a model. Source: docs/money.md#reservations. */
export function embeddingBound(measure: TextMeasure, { contextLength }: Model): WholeBound {
  const most = maxTokensOf(measure);
  const tokens = contextLength === 0 ? most : Math.min(most, contextLength * measure.inputs);
  return { tokens, quantities: embeddingQuantities(tokens) };
}

/** The chargeable quantities of a request. */
export function embeddingQuantities(tokens: number): QuantitiesBy<"embedding"> {
  return { prompt: tokens, request: 1 };
}
