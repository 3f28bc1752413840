import { isObject, listOf, textOrNull } from "../../conversation/neutral/wire_value.ts";
import { DAY_MS } from "../../money/billing/usage/usage_records.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import { readExactUsd } from "./exact_usd.ts";
import { countIn } from "./report_pages.ts";
import { type ReadReport, type ReportRange, type ReportSink, unexpectedReport } from "./vendor_report.ts";

const ACTIVITY = "/activity";
/** The vendor reports as many days before the present one. */
const MAX_AGE_DAYS = 30;

/** The days of a range that the vendor reports: completed ones, of the last thirty. */
export function openrouterDays({ fromDay, toDay }: ReportRange, today: number): ReportRange {
  return { fromDay: Math.max(fromDay, today - MAX_AGE_DAYS), toDay: Math.min(toDay, today) };
}

/**
 * Reads the activity of an account, a day at a time. What the caller's own keys at other vendors cost is not part of
 * the bill. Source: OpenRouter API reference, "Get user activity grouped by endpoint".
 *
 * @param range As {@linkcode openrouterDays}.
 */
export async function readOpenrouterReport(read: ReadReport, range: ReportRange, sink: ReportSink): Promise<void> {
  for (let day = range.fromDay; day < range.toDay; day++) {
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const answer = await read(ACTIVITY, new URLSearchParams({ date }));
    if (!isObject(answer) || !Array.isArray(answer.data)) throw unexpectedReport(`${ACTIVITY} has no list "data"`);
    await nextTurn();
    for (const item of listOf(answer.data)) {
      if (!isObject(item) || !String(item.date).startsWith(date)) continue;
      const model = textOrNull(item.model) ?? textOrNull(item.model_permaslug);
      const amount = readExactUsd(item.usage);
      if (model === null || amount === null) throw unexpectedReport('an item has no "model" or no number in "usage"');
      sink.addItem({ day, model, dimension: null, condition: null, amount, quantity: null });
      sink.addUsage({
        day,
        model,
        requests: countIn(item, "requests"),
        inputTokens: countIn(item, "prompt_tokens"),
        cacheReadTokens: null,
        cacheWriteTokens: null,
        outputTokens: countIn(item, "completion_tokens"),
      });
    }
  }
}
