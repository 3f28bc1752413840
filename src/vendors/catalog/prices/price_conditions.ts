/** The names in an entry of `overrides` that are no price. */
export const PRICE_CONDITIONS = [
  "min_prompt_tokens",
  "utc_start",
  "utc_end",
  "days",
  "except",
  "from",
  "until",
  "service_tier",
  "region",
  "batch",
] as const;

/** What must hold for a price to apply. Each condition that is null always holds. */
export interface PriceConditions {
  /** The prompt has more tokens than this, those read from or written to a cache included. */
  readonly minPromptTokens: number | null;
  /** The hours of a day in UTC. */
  readonly hours: DailyHours | null;
  /** Days of the week, from 0 for Sunday. Of hours beyond midnight, the day on which they began. */
  readonly days: readonly number[] | null;
  /** Dates in UTC that are left out, such as public holidays: `2027-01-01`. */
  readonly except: readonly string[];
  /** Unix milliseconds. The request began then or later. */
  readonly from: number | null;
  /** Unix milliseconds. The request began before. */
  readonly until: number | null;
  /** The service tier in lower case. */
  readonly serviceTier: string | null;
  /** The region in lower case: that which a reply names, else that of the provider. */
  readonly region: string | null;
  /** Whether the request is part of a batch. */
  readonly batch: boolean | null;
}

/** Hours of a day in UTC, in minutes after midnight. With `end` at or before `start`, they go beyond midnight. */
export interface DailyHours {
  readonly start: number;
  /** Not part of the hours. */
  readonly end: number;
}

/** What decides on the price of a request. */
export interface PriceSituation {
  /** Unix milliseconds at which the request began. */
  readonly at: number;
  /** All tokens of the prompt. */
  readonly promptTokens: number;
  /** Null for the default tier. */
  readonly serviceTier: string | null;
  /** Null if it is unknown. */
  readonly region: string | null;
}

/** The service tier of requests in batches, as replies name it. */
export const BATCH_TIER = "batch";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MINUTES_PER_DAY = 1_440;

/** Whether all conditions hold. */
export function areConditionsMet(conditions: PriceConditions, situation: PriceSituation): boolean {
  const { minPromptTokens, serviceTier, region, batch } = conditions;
  return isTimeMet(conditions, situation.at) &&
    (minPromptTokens === null || situation.promptTokens > minPromptTokens) &&
    (serviceTier === null || serviceTier === situation.serviceTier) &&
    (region === null || region === situation.region) &&
    (batch === null || batch === (situation.serviceTier === BATCH_TIER));
}

/** Whether the conditions on dates and hours hold. */
export function isTimeMet({ from, until, ...daily }: PriceConditions, at: number): boolean {
  return (from === null || at >= from) && (until === null || at < until) && areHoursMet(daily, at);
}

function areHoursMet(
  { hours, days, except }: Pick<PriceConditions, "hours" | "days" | "except">,
  at: number,
): boolean {
  if (hours === null && days === null && except.length === 0) return true;
  if (!Number.isFinite(at)) return false;
  const minute = Math.floor(at / MINUTE_MS) % MINUTES_PER_DAY;
  const isOverMidnight = hours !== null && hours.end <= hours.start;
  if (hours !== null && !isOverMidnight && (minute < hours.start || minute >= hours.end)) return false;
  const isAfterMidnight = isOverMidnight && minute < hours.end;
  if (isOverMidnight && !isAfterMidnight && minute < hours.start) return false;
  const began = new Date(isAfterMidnight ? at - DAY_MS : at);
  return (days === null || days.includes(began.getUTCDay())) && !except.includes(began.toISOString().slice(0, 10));
}

/** Whether only dates and hours decide. */
export function isTimeOnly({ minPromptTokens, serviceTier, region, batch }: PriceConditions): boolean {
  return minPromptTokens === null && serviceTier === null && region === null && batch === null;
}

/** Whether some hours of each day decide, so that the price changes again and again. */
export function isRecurring({ hours, days, except }: PriceConditions): boolean {
  return hours !== null || days !== null || except.length > 0;
}

/** The next moment after one at which hours can begin or end: hours have whole minutes. Unix milliseconds. */
export function nextMinute(at: number): number {
  return (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS;
}

/** The moments from one to another at which the conditions on dates and hours may change, the first one included. */
export function changesWithin(conditions: PriceConditions, fromMs: number, toMs: number): readonly number[] {
  const { from, until, hours } = conditions;
  const changes = [from, until];
  if (isRecurring(conditions)) {
    const midnight = Math.floor(fromMs / DAY_MS) * DAY_MS;
    for (let day = midnight; day <= toMs; day += DAY_MS) {
      changes.push(day, day + (hours?.start ?? 0) * MINUTE_MS, day + (hours?.end ?? 0) * MINUTE_MS);
    }
  }
  return [fromMs, ...changes.filter((at): at is number => at !== null && at > fromMs && at <= toMs)];
}

/** The conditions as an operator writes them; those that always hold are left out. */
export function writeConditions(conditions: PriceConditions): Record<string, string | number | boolean | string[]> {
  const { minPromptTokens, hours, days, except, from, until, serviceTier, region, batch } = conditions;
  return {
    ...minPromptTokens !== null && { min_prompt_tokens: minPromptTokens },
    ...hours !== null && { utc_start: writeTime(hours.start), utc_end: writeTime(hours.end) },
    ...days !== null && { days: days.map((day) => DAY_NAMES[day] ?? "") },
    ...except.length > 0 && { except: [...except] },
    ...from !== null && { from: writeMoment(from) },
    ...until !== null && { until: writeMoment(until) },
    ...serviceTier !== null && { service_tier: serviceTier },
    ...region !== null && { region },
    ...batch !== null && { batch },
  };
}

/** The conditions in a few words, for the explanation of a price: `above 272000 prompt tokens`. */
export function conditionsText(conditions: PriceConditions): string {
  const { minPromptTokens, hours, days, from, until, serviceTier, region, batch } = conditions;
  const parts = [
    minPromptTokens === null ? "" : `above ${minPromptTokens} prompt tokens`,
    hours === null ? "" : `from ${writeTime(hours.start)} to ${writeTime(hours.end)} UTC`,
    days === null ? "" : `on ${days.map((day) => DAY_NAMES[day]).join(", ")}`,
    from === null ? "" : `since ${writeMoment(from).slice(0, 10)}`,
    until === null ? "" : `until ${writeMoment(until).slice(0, 10)}`,
    serviceTier === null ? "" : `tier ${serviceTier}`,
    region === null ? "" : `region ${region}`,
    batch === null ? "" : batch ? "batch" : "not in a batch",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** The names of days as an operator writes them, by their number. */
export const DAY_NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/** ISO 8601 in UTC, to the second. */
export function writeMoment(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}

function writeTime(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
