import * as z from "zod";
import { readDataUri } from "../../../../platform/lib/media/data_uri.ts";
import { MAX_COUNTER_TOKENS } from "../../../../conversation/neutral/usage.ts";
import type { GeneratedImage, ImageConsumption } from "../../contract/image_upstream.ts";

/** A token count. Absent and null mean 0; a negative, fractional or non-numeric count is NaN. */
export const tokenCount: z.ZodType<number> = z.unknown().optional().transform((count) => {
  if (count === undefined || count === null) return 0;
  const isCount = typeof count === "number" && count >= 0 && Number.isInteger(count);
  return isCount ? Math.min(count, MAX_COUNTER_TOKENS) : NaN;
});

/** An image in the list of a vendor of the default protocol. Source: OpenAI API reference, "Images". */
export const listedImage = z.object({ b64_json: z.string().nullish(), url: z.string().nullish() });

/**
 * Converts a listed image; returns null if the entry contains none.
 *
 * @param mediaType The media type that the vendor reports; null if it reports none.
 */
export function generatedImageOf(
  { b64_json, url }: z.infer<typeof listedImage>,
  mediaType: string | null,
): GeneratedImage | null {
  const written = readDataUri(b64_json || url || "");
  if (written !== null) {
    return { result: { kind: "base64", data: written.base64 }, mediaType: mediaType ?? written.mediaType };
  }
  if (b64_json) return { result: { kind: "base64", data: b64_json }, mediaType };
  return url ? { result: { kind: "url", url }, mediaType } : null;
}

/**
 * Returns the consumption; null if all counters are zero, because such vendors do not count. If a counter is not
 * readable, all are zero and `isUnreadable` is set.
 */
export function consumptionOf(consumption: ImageConsumption): ImageConsumption | null {
  if (consumption.isUnreadable || Object.values(consumption).some(Number.isNaN)) {
    return { ...NO_CONSUMPTION, isUnreadable: true };
  }
  const { textTokens, imageTokens, outputTokens } = consumption;
  return textTokens + imageTokens + outputTokens === 0 ? null : consumption;
}

/** No consumption. */
export const NO_CONSUMPTION: ImageConsumption = {
  textTokens: 0,
  imageTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  outputTextTokens: 0,
};

/** The total consumption of several replies; null if none of them reported any. */
export function sumOfConsumptions(parts: readonly (ImageConsumption | null)[]): ImageConsumption | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return null;
  const total = (count: (part: ImageConsumption) => number) => known.reduce((sum, part) => sum + count(part), 0);
  return {
    textTokens: total((part) => part.textTokens),
    imageTokens: total((part) => part.imageTokens),
    cachedTokens: total((part) => part.cachedTokens),
    ...known.every(({ cachedImageTokens }) => cachedImageTokens !== undefined)
      ? { cachedImageTokens: total((part) => part.cachedImageTokens ?? 0) }
      : {},
    outputTokens: total((part) => part.outputTokens),
    outputTextTokens: total((part) => part.outputTextTokens),
    ...known.some(({ isUnreadable }) => isUnreadable) ? { isUnreadable: true } : {},
  };
}
