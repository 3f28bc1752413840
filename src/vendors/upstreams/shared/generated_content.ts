import * as z from "zod";
import type { UpstreamFailure } from "../call/failure.ts";
import { tokenCount } from "./images/image_reply.ts";
import type { Outbound } from "../call/outbound_call.ts";

const Part = z.object({
  thought: z.boolean().nullish(),
  text: z.string().nullish(),
  inlineData: z.object({ mimeType: z.string().nullish(), data: z.string() }).nullish(),
});

const candidate = z.object({
  content: z.object({ parts: z.array(Part).nullish() }).nullish(),
  finishReason: z.string().nullish(),
  finishMessage: z.string().nullish(),
});

const details = z.array(z.object({ modality: z.string().nullish(), tokenCount })).nullish();

/**
 * The fields of a reply that are read where it is no conversation. Source: Gemini API reference, "Generating content",
 * `GenerateContentResponse`.
 */
export const GeneratedContent = z.object({
  candidates: z.array(candidate).nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish(), blockReasonMessage: z.string().nullish() }).nullish(),
  usageMetadata: z.object({
    promptTokenCount: tokenCount,
    toolUsePromptTokenCount: tokenCount,
    cachedContentTokenCount: tokenCount,
    candidatesTokenCount: tokenCount,
    thoughtsTokenCount: tokenCount,
    promptTokensDetails: details,
    candidatesTokensDetails: details,
  }).nullish(),
});

/** A reply as {@linkcode GeneratedContent} reads it. */
export type GeneratedContent = z.infer<typeof GeneratedContent>;

/** One alternative of a reply. */
export type GeneratedCandidate = z.infer<typeof candidate>;

/** The tokens of a modality, such as `AUDIO`; 0 where the vendor lists none. */
export function tokensOfModality(listed: z.infer<typeof details>, modality: string): number {
  return (listed ?? []).filter((each) => each.modality === modality).reduce((sum, each) => sum + each.tokenCount, 0);
}

/** Finish reasons that do not concern the request: another attempt may succeed. */
const TRANSIENT_REASONS: ReadonlySet<string> = new Set([
  "OTHER",
  "IMAGE_OTHER",
  "FINISH_REASON_UNSPECIFIED",
  "MALFORMED_RESPONSE",
]);
/** Finish reasons that are no refusal of what was requested. */
const NO_REFUSALS: ReadonlySet<string> = new Set(["NO_IMAGE", "MAX_TOKENS", "LANGUAGE"]);

/**
 * Converts a status 200 response without a result to a failure. Source: Gemini API reference, "BlockReason",
 * "FinishReason".
 *
 * @param result What the response lacks: `image`.
 */
export function emptyReplyFailure(
  { promptFeedback, candidates }: GeneratedContent,
  result: string,
  outbound: Outbound,
): UpstreamFailure {
  const first = candidates?.[0];
  const ended = first?.finishReason === "STOP" ? null : first?.finishReason;
  const reason = promptFeedback?.blockReason ?? ended ?? null;
  if (reason !== null && TRANSIENT_REASONS.has(reason)) {
    return outbound.failure("unavailable", `The model created no ${result}: ${reason}`, { vendorCode: reason });
  }
  if (reason !== null) {
    const message = promptFeedback?.blockReasonMessage || first?.finishMessage ||
      `The model created no ${result}: ${reason}`;
    return outbound.failure("invalid", message, { vendorCode: reason, isContentRefusal: !NO_REFUSALS.has(reason) });
  }
  // The model answers a prompt that does not ask for the result with text. Other providers would not help.
  if (first?.content?.parts?.some(({ text }) => text)) {
    return outbound.failure("invalid", `The model responded with text and created no ${result}`, {
      vendorCode: `NO_${result.toUpperCase()}`,
    });
  }
  return outbound.failure("broken", "", { accepted: "unknown" });
}
