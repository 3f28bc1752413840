import { usageWithCache } from "../../caches/hit.ts";
import { promptTokensOf, type Usage } from "../../../conversation/neutral/usage.ts";
import { countPromptTokens, estimatedUsage } from "../plan/token_estimate.ts";
import type { TextAttempt, TextRequest } from "../plan/attempt.ts";

/**
 * Returns the usage of a reply whose vendor reports none: the gateway's own count of the prompt, and the cache's count
 * of its content.
 */
export async function estimatedUsageOf(request: TextRequest, outputTokens: number): Promise<Usage> {
  const prompt = await promptTokensOfRequest(request) + (request.cache?.tokens ?? 0);
  return usageWithCache(estimatedUsage(prompt, outputTokens), request.cache);
}

/** Returns the gateway's own count of a request's prompt tokens. */
export async function promptTokensOfRequest(request: TextRequest): Promise<number> {
  try {
    return await countPromptTokens(request.format.read(request.wholeBody()));
  } catch {
    // A request that cannot be translated is estimated by its size.
    return Math.ceil(request.bytes.length / 4);
  }
}

/**
 * Returns the usage of a reply that is incomplete or came without usage.
 *
 * @param reported The last usage that the vendor reported. Some vendors report an empty prompt until the end.
 * @param countedTokens The gateway's own count of the output.
 */
export async function usageSoFar(request: TextRequest, reported: Usage | null, countedTokens: number): Promise<Usage> {
  const outputTokens = Math.max(reported?.outputTokens ?? 0, countedTokens);
  if (reported !== null && promptTokensOf(reported) > 0) return { ...reported, outputTokens, estimated: true };
  const counted = await estimatedUsageOf(request, outputTokens);
  // What the vendor did count stays, such as searches and the tier that served.
  return reported === null ? counted : { ...reported, ...promptSideOf(counted), outputTokens, estimated: true };
}

function promptSideOf(usage: Usage) {
  const { freshTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, toolPromptTokens } = usage;
  return { freshTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, toolPromptTokens };
}

/**
 * Whether only the vendor can determine the size of the prompt, and has not reported it: the request names files,
 * stored context or hosted tools. The gateway's own count would cover only the few bytes of the request.
 *
 * @param reported The usage that the vendor has reported so far.
 */
export function isUsageAwaited({ measure }: Pick<TextAttempt, "measure">, reported: Usage | null): boolean {
  return !measure.isSizeKnown && (reported === null || promptTokensOf(reported) <= 0);
}

/**
 * Returns the signal that cancels the vendor's work when the caller disconnects. Null if the vendor's stream is read to
 * its end.
 */
export function cancelSignalOf(
  { request, measure }: Pick<TextAttempt, "request" | "measure">,
): TextRequest["callerSignal"] | null {
  return measure.isSizeKnown ? request.callerSignal : null;
}
