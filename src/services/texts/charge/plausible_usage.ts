import { type CheckedUsage, checkUsage, type UsageLimits } from "../../calls/plausible_usage.ts";
import { promptTokensOf, type Usage } from "../../../conversation/neutral/usage.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { estimatedUsageOf, usageSoFar } from "./request_usage.ts";

/** What the gateway observed of a reply. */
export interface ObservedReply {
  /** Counts the tokens of the text. Called only if the vendor's own count is implausible. */
  readonly countOutput: () => MaybePromise<number>;
  /** The number of hosted tool calls. */
  readonly hostedCalls: number;
}

/**
 * Returns the usage to charge: the vendor's report, unless it is implausible. A count above the ceiling is lowered to
 * the ceiling. A missing or unreadable count is replaced by the gateway's own. Both cases are logged as
 * `usage_implausible`. The result is immediate if nothing has to be counted.
 */
export function plausibleUsage(attempt: TextAttempt, reported: Usage, seen: ObservedReply): MaybePromise<Usage> {
  const { model, measure } = attempt;
  const limits = {
    contextTokens: model.contextLength,
    outputTokens: model.topProvider.maxCompletionTokens,
    choices: measure.choices,
    // Each further request reads the prompt again, as each call of a hosted tool does.
    hostedCalls: seen.hostedCalls + (attempt.hops?.count ?? 1) - 1,
  };
  if (reported.outputTokens > 0 && !reported.isUnreadable) {
    const checked = checkUsage(reported, limits, { hasPrompt: true, hasOutput: false });
    if (checked.verdict === "plausible") return checked.usage;
    return correctedUsage(attempt, reported, { seen, limits, checked, counted: null });
  }
  return usageWithCount(attempt, reported, seen, limits);
}

/** The usage of a reply whose output the gateway counts, as its vendor's count is zero or unreadable. */
async function usageWithCount(
  attempt: TextAttempt,
  reported: Usage,
  seen: ObservedReply,
  limits: UsageLimits,
): Promise<Usage> {
  const counted = await seen.countOutput();
  const checked = checkUsage(reported, limits, { hasPrompt: true, hasOutput: counted > 0 });
  if (checked.verdict === "plausible") return checked.usage;
  return await correctedUsage(attempt, reported, { seen, limits, checked, counted });
}

interface Correction {
  readonly seen: ObservedReply;
  readonly limits: UsageLimits;
  readonly checked: Exclude<CheckedUsage, { verdict: "plausible" }>;
  /** The gateway's count of the output; null if it has not counted. */
  readonly counted: number | null;
}

async function correctedUsage(
  { request, model, provider, settlement }: TextAttempt,
  reported: Usage,
  { seen, limits, checked, counted }: Correction,
): Promise<Usage> {
  settlement.parts.log.warn("usage_implausible", {
    requestId: request.requestId,
    accountId: request.accountId,
    model: model.id,
    provider: provider.name,
    reason: checked.verdict,
    inputTokens: promptTokensOf(reported),
    outputTokens: reported.outputTokens,
  });
  if (checked.verdict === "above_ceiling") return checked.usage;
  const output = counted ?? await seen.countOutput();
  const corrected = reported.isUnreadable ? null : await usageSoFar(request, reported, output);
  // The reported side may still exceed the ceiling.
  const recheck = corrected && checkUsage(corrected, limits, { hasPrompt: false, hasOutput: false });
  return recheck === null || recheck.verdict === "unreadable" ? await estimatedUsageOf(request, output) : recheck.usage;
}

const HOSTED_CALL =
  /"type"\s*:\s*"(?:server_tool_use|mcp_tool_use|(?!function_|custom_tool_|local_shell_|computer_|apply_patch_)[a-z_]+_call)"|"(?:executableCode|groundingMetadata)"\s*:/g;

/**
 * Returns how many hosted tool calls a part of a reply contains, in the vendor's JSON. A quoted name cannot occur
 * inside text, where quotes are escaped. A stream names a call more than once, so the count is an upper bound.
 */
export function countHostedCalls(json: string): number {
  return json.match(HOSTED_CALL)?.length ?? 0;
}
