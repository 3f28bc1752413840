import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import type { LimitsLeft, RateLeft } from "./limits_left.ts";

/**
 * Writes what limits have left, by their names; those without a limit are absent. Source:
 * docs/api/limits.md#own-limits-and-credits.
 *
 * @param now Unix milliseconds.
 */
export function writeLeft({ requests, tokens, concurrency, budget }: LimitsLeft = {}, now: number): JsonObject {
  return {
    ...requests && { rpm: writeRate(requests, now) },
    ...tokens && { tpm: writeRate(tokens, now) },
    ...concurrency && { concurrency: { left: concurrency.left } },
    ...budget && {
      budget: {
        left: writeMoney(budget.left > 0n ? budget.left : 0n),
        resets_at: budget.resetAt === null ? null : secondsOf(budget.resetAt),
      },
    },
  };
}

/** `resets_at` is when everything is left, if nothing else is sent, rounded up to a second. */
function writeRate({ left, fullInMs }: RateLeft, now: number): JsonObject {
  return { left, resets_at: Math.ceil((now + fullInMs) / 1_000) };
}
