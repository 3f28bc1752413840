import { usageWithCache } from "../caches/hit.ts";
import { promptTokensOf, type Usage } from "../conversation/usage.ts";
import { countPromptTokens, estimatedUsage } from "./token_estimate.ts";
import type { TextAttempt, TextRequest } from "./attempt.ts";

/** The usage of a reply whose vendor told none: the prompt by the gateway's own count, its cache by the cache's. */
export async function estimatedUsageOf(turn: TextRequest, outputTokens: number): Promise<Usage> {
  const prompt = await promptTokensOfTurn(turn) + (turn.cache?.tokens ?? 0);
  return usageWithCache(estimatedUsage(prompt, outputTokens), turn.cache);
}

/** The prompt tokens of a request by the gateway's own count. */
export async function promptTokensOfTurn(turn: TextRequest): Promise<number> {
  try {
    return await countPromptTokens(turn.format.read(turn.body));
  } catch {
    // What cannot be translated can still be counted, roughly.
    return Math.ceil(turn.bytes.length / 4);
  }
}

/**
 * The usage of a reply that did not come to its end, or came without one.
 *
 * @param said What the vendor told before; some tell a prompt of nothing until the end.
 * @param countedTokens What was produced, by the gateway's own count.
 */
export async function usageSoFar(turn: TextRequest, said: Usage | null, countedTokens: number): Promise<Usage> {
  const outputTokens = Math.max(said?.outputTokens ?? 0, countedTokens);
  if (said !== null && promptTokensOf(said) > 0) return { ...said, outputTokens, estimated: true };
  return await estimatedUsageOf(turn, outputTokens);
}

/**
 * Whether only the vendor can tell how large the prompt is, and has not: the request names files, stored context or
 * hosted tools. The gateway's own count would be that of the request's few bytes.
 *
 * @param said What the vendor told so far.
 */
export function isUsageAwaited({ measure }: Pick<TextAttempt, "measure">, said: Usage | null): boolean {
  return !measure.isCarried && (said === null || promptTokensOf(said) <= 0);
}

/** Gives the signal that ends the vendor's work when the caller leaves; null where the vendor is heard out. */
export function leavingSignalOf(
  { turn, measure }: Pick<TextAttempt, "turn" | "measure">,
): TextRequest["callerSignal"] | null {
  return measure.isCarried ? turn.callerSignal : null;
}
