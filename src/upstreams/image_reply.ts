import * as z from "zod";
import { MAX_COUNTER_TOKENS } from "../conversation/usage.ts";
import type { ImageConsumption, MadeImage } from "./image_upstream.ts";

/** Most bytes of a whole answer with pictures: ten of the largest that a vendor makes stay below it. */
export const IMAGE_REPLY_CAP_BYTES = 134_217_728;

/** A count of tokens; vendors leave it out, or send null. One that is negative, fractional or no number is NaN. */
export const tokenCount: z.ZodType<number> = z.unknown().optional().transform((count) => {
  if (count === undefined || count === null) return 0;
  const isCount = typeof count === "number" && count >= 0 && Number.isInteger(count);
  return isCount ? Math.min(count, MAX_COUNTER_TOKENS) : NaN;
});

/** A picture as the default protocol's vendors list it. Source: OpenAI API reference, "Images". */
export const listedImage = z.object({ b64_json: z.string().nullish(), url: z.string().nullish() });

/**
 * A listed picture; null when the entry holds none.
 *
 * @param mediaType What the vendor says of its type, null when nothing.
 */
export function madeImageOf(
  { b64_json, url }: z.infer<typeof listedImage>,
  mediaType: string | null,
): MadeImage | null {
  const [head, writtenType] = /^data:([^;,]+);base64,/.exec((b64_json || url || "").slice(0, 100)) ?? [];
  if (head !== undefined && writtenType !== undefined) {
    const data = (b64_json || url || "").slice(head.length);
    return { result: { kind: "base64", data }, mediaType: mediaType ?? writtenType };
  }
  if (b64_json) return { result: { kind: "base64", data: b64_json }, mediaType };
  return url ? { result: { kind: "url", url }, mediaType } : null;
}

/**
 * What was consumed; null when all of it is zero, because then the vendor counts nothing that it reports. Where a
 * counter cannot be read, none of them counts.
 */
export function consumptionOf(consumption: ImageConsumption): ImageConsumption | null {
  if (Object.values(consumption).some(Number.isNaN)) {
    return { textTokens: 0, imageTokens: 0, cachedTokens: 0, outputTokens: 0, isUnreadable: true };
  }
  const { textTokens, imageTokens, outputTokens } = consumption;
  return textTokens + imageTokens + outputTokens === 0 ? null : consumption;
}
