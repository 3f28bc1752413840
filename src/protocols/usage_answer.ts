import { DAY_MS, type UsageSums } from "../money/billing/usage/usage_records.ts";
import {
  compareValues,
  type UsageDimension,
  type UsageGroup,
  type UsageValue,
} from "../money/billing/usage/usage_group.ts";
import type { UsageReport } from "../money/billing/usage/usage_report.ts";
import { CSV_TYPE, csvLines, csvText } from "../platform/lib/text/csv.ts";
import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { writeMoney } from "../platform/lib/basics/money.ts";
import { type UsageRequest, writeCursor } from "./usage_query.ts";

/** The fields of the counts, in the order of `UsageCounts`. */
const COUNT_FIELDS = [
  "requests",
  "estimated_requests",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "images",
  "web_searches",
  "video_seconds",
] as const;

/** The place of what vendors' caches saved, after the other counts. */
const CACHE_SAVED = COUNT_FIELDS.length;

/** Seconds of videos can be fractions, whose sum is not exact. */
const MAX_FRACTION = 1_000;
const HEADERS = { "cache-control": "no-store" };

/** The answer of a usage endpoint: `{data, total, next}`, with `top` also `others`; or a table as CSV. */
export function usageAnswer({ query, format, page }: UsageRequest, { groups, others, total }: UsageReport): Response {
  const { after, limit } = page;
  const left = after === null ? groups : groups.filter(({ values }) => compareValues(values, after) > 0);
  const shown = left.slice(0, limit);
  if (format === "csv") return csvAnswer(query.groupBy, shown);
  const last = left.length > limit ? shown.at(-1) : undefined;
  const data = shown.map((group) => writeGroup(query.groupBy, group));
  const byDay = query.groupBy.filter((dimension) => dimension === "day");
  const rest = query.top !== undefined && { others: others.map((group) => writeGroup(byDay, group)) };
  const next = last === undefined ? null : writeCursor(last.values);
  return Response.json({ data, ...rest, total: writeSums(total), next }, { headers: HEADERS });
}

function writeGroup(groupBy: readonly UsageDimension[], group: UsageGroup): JsonObject {
  return { ...writeValues(groupBy, group), ...writeSums(group.sums) };
}

function writeValues(groupBy: readonly UsageDimension[], { values }: UsageGroup): JsonObject {
  return Object.fromEntries(groupBy.map((dimension, place) => [dimension, writeValue(values[place] ?? null)]));
}

/** A day is the only number. */
function writeValue(value: UsageValue): string | null {
  return typeof value === "number" ? new Date(value * DAY_MS).toISOString().slice(0, 10) : value;
}

function writeSums({ cost, counts }: UsageSums): JsonObject {
  const written = COUNT_FIELDS.map((field, place) => [field, rounded(counts[place] ?? 0)]);
  const cacheSaved = writeMoney(BigInt(counts[CACHE_SAVED] ?? 0));
  return { cost: writeMoney(cost), ...Object.fromEntries(written), cache_saved: cacheSaved };
}

function rounded(count: number): number {
  return Math.round(count * MAX_FRACTION) / MAX_FRACTION;
}

/** Without a row of totals, which a spreadsheet would add to its own. */
function csvAnswer(groupBy: readonly UsageDimension[], groups: readonly UsageGroup[]): Response {
  const rows = groups.map((group) => [
    ...group.values.map((value) => csvText(writeValue(value) ?? "")),
    ...Object.values(writeSums(group.sums)).map(String),
  ]);
  const lines = csvLines([[...groupBy, "cost", ...COUNT_FIELDS, "cache_saved"], ...rows]);
  return new Response(lines, { headers: { ...HEADERS, "content-type": CSV_TYPE } });
}
