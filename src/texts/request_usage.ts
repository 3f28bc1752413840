import { usageWithCache } from "../caches/hit.ts";
import { promptTokensOf, type Usage } from "../conversation/usage.ts";
import { countPromptTokens, estimatedUsage } from "./token_estimate.ts";
import type { TextAttempt, TextRequest } from "./attempt.ts";

/**
 * Returns the usage of a reply whose vendor reports none: the gateway's own count of the prompt, and the cache's count
 * of its content.
 */
export async function estimatedUsageOf(turn: TextRequest, outputTokens: number): Promise<Usage> {
  const prompt = await promptTokensOfRequest(turn) + (turn.cache?.tokens ?? 0);
  return usageWithCache(estimatedUsage(prompt, outputTokens), turn.cache);
}

/** Returns the gateway's own count of a request's prompt tokens. */
export async function promptTokensOfRequest(turn: TextRequest): Promise<number> {
  try {
    return await countPromptTokens(turn.format.read(turn.body));
  } catch {
    // A request that cannot be translated is estimated by its size.
    return Math.ceil(turn.bytes.length / 4);
  }
}

/**
 * Returns the usage of a reply that is incomplete or came without usage.
 *
 * @param said The last usage that the vendor reported. Some vendors report an empty prompt until the end.
 * @param countedTokens The gateway's own count of the output.
 */
export async function usageSoFar(turn: TextRequest, said: Usage | null, countedTokens: number): Promise<Usage> {
  const outputTokens = Math.max(said?.outputTokens ?? 0, countedTokens);
  if (said !== null && promptTokensOf(said) > 0) return { ...said, outputTokens, estimated: true };
  return await estimatedUsageOf(turn, outputTokens);
}

/**
 * Whether only the vendor can determine the size of the prompt, and has not reported it: the request names files,
 * stored context or hosted tools. The gateway's own count would cover only the few bytes of the request.
 *
 * @param said The usage that the vendor has reported so far.
 */
export function isUsageAwaited({ measure }: Pick<TextAttempt, "measure">, said: Usage | null): boolean {
  return !measure.isCarried && (said === null || promptTokensOf(said) <= 0);
}

/**
 * Returns the signal that cancels the vendor's work when the caller disconnects. Null if the vendor's stream is read to
 * its end.
 */
export function cancelSignalOf(
  { turn, measure }: Pick<TextAttempt, "turn" | "measure">,
): TextRequest["callerSignal"] | null {
  return measure.isCarried ? turn.callerSignal : null;
}
