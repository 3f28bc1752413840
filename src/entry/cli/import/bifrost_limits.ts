import type { Written } from "./imported_config.ts";
import { decimalOf } from "../../../vendors/prices/litellm_prices.ts";
import { numberIn, type SourceMap, textIn } from "../../../vendors/prices/source_values.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  M: 2_592_000,
  Q: 7_776_000,
  Y: 31_536_000,
};

/** The length of a period such as `1h` or `1M` in seconds; null if it is none. Source: Bifrost, "Budget and Limits". */
function secondsOf(period: string | null): number | null {
  const [, count, unit = ""] = /^(\d+)([smhdwMQY])$/.exec(period ?? "") ?? [];
  const seconds = count === undefined ? 0 : Number(count) * (ownValue(SECONDS, unit) ?? 0);
  return seconds > 0 && Number.isFinite(seconds) ? seconds : null;
}

/** A limit of the source as one of ours, which is never wider. */
export type CarriedLimit =
  | { readonly fields: Record<string, Written>; readonly narrowed: string | null }
  | { readonly refused: string };

/** The periods of budgets, shortest first. What is longer is carried as a budget for good. */
const PERIODS = [["day", "d"], ["week", "w"], ["month", "M"]] as const;

/** A budget. The same amount for a longer period is narrower, so the next longer period is used. */
export function budgetOf(budget: SourceMap): CarriedLimit {
  const amount = numberIn(budget.max_limit);
  const period = textIn(budget.reset_duration);
  const seconds = secondsOf(period);
  const decimal = amount === null || amount <= 0 ? null : decimalOf(Math.floor(amount * 1e6) / 1e6);
  if (decimal === null || Number(decimal) === 0 || seconds === null) {
    return { refused: "its budget has no amount above 0 or no period" };
  }
  const [per, unit] = PERIODS.find(([, each]) => seconds <= (ownValue(SECONDS, each) ?? 0)) ?? ["total", ""];
  const isExact = seconds === ownValue(SECONDS, unit);
  return {
    fields: { budget: { amount: decimal, per } },
    narrowed: isExact ? null : `its budget of ${period} holds for ${per === "total" ? "good" : `a ${per}`}`,
  };
}

const COUNTS = [["request", "rpm"], ["token", "tpm"]] as const;

/**
 * The limits of requests and tokens of a minute: their share of one, or all of it if the period is shorter.
 */
export function ratesOf(limit: SourceMap): CarriedLimit {
  const fields: Record<string, Written> = {};
  const narrowed: string[] = [];
  for (const [of, to] of COUNTS) {
    if (limit[`${of}_max_limit`] === undefined || limit[`${of}_max_limit`] === null) continue;
    const count = numberIn(limit[`${of}_max_limit`]);
    const period = textIn(limit[`${of}_reset_duration`]);
    const seconds = secondsOf(period);
    const perMinute = count === null || seconds === null ? 0 : Math.floor(count / Math.max(1, seconds / 60));
    if (perMinute < 1) return { refused: `its limit of ${of}s is less than one a minute` };
    fields[to] = perMinute;
    if (seconds !== 60) narrowed.push(`${count} ${of}s in ${period} became ${perMinute} a minute`);
  }
  return { fields, narrowed: narrowed.length === 0 ? null : narrowed.join(", ") };
}
