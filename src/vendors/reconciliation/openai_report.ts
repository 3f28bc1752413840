import { isObject, textOrNull } from "../../conversation/neutral/wire_value.ts";
import { DAY_MS } from "../../money/billing/usage/usage_records.ts";
import { readExactUsd } from "./exact_usd.ts";
import { type Bucket, countIn, readPages, sumIn } from "./report_pages.ts";
import {
  type BilledItem,
  DAYS_PER_PAGE,
  type ReadReport,
  type ReportRange,
  type ReportSink,
  unexpectedReport,
} from "./vendor_report.ts";

const DAY_SECONDS = DAY_MS / 1_000;
const COSTS = "/organization/costs";
const COMPLETIONS = "/organization/usage/completions";

/**
 * Reads the costs of an organization by line item, and the usage of its text models. Source: OpenAI API reference,
 * "Usage": costs, completions; types of the package openai 7.59.
 */
export async function readOpenaiReport(read: ReadReport, range: ReportRange, sink: ReportSink): Promise<void> {
  const query = new URLSearchParams({
    start_time: String(range.fromDay * DAY_SECONDS),
    end_time: String(range.toDay * DAY_SECONDS),
    bucket_width: "1d",
    limit: String(DAYS_PER_PAGE),
  });
  await readPages(read, COSTS, new URLSearchParams([...query, ["group_by", "line_item"]]), (bucket) => {
    for (const result of bucket.results) sink.addItem(itemOf(dayOf(bucket), result));
  });
  await readPages(read, COMPLETIONS, new URLSearchParams([...query, ["group_by", "model"]]), (bucket) => {
    for (const result of bucket.results) addUsage(dayOf(bucket), result, sink);
  });
}

function dayOf({ bucket }: Bucket): number {
  const start = countIn(bucket, "start_time");
  if (start === null) throw unexpectedReport('a bucket has no "start_time"');
  return Math.floor(start / DAY_SECONDS);
}

function itemOf(day: number, result: Bucket["results"][number]): BilledItem {
  const { amount: money, line_item } = result;
  const amount = isObject(money) ? readExactUsd(money.value) : null;
  if (amount === null || !isObject(money)) throw unexpectedReport('a cost has no number in "amount.value"');
  const currency = textOrNull(money.currency) ?? "usd";
  if (currency.toLowerCase() !== "usd") throw unexpectedReport(`expected amounts in usd, got ${currency.slice(0, 10)}`);
  return { day, ...readLineItem(textOrNull(line_item)), amount, quantity: quantityIn(result) };
}

/** Thousands of tokens are counted as tokens; other units stay. */
function quantityIn(result: Bucket["results"][number]): number | null {
  const quantity = countIn(result, "quantity");
  return quantity !== null && result.quantity_unit === "1000_tokens" ? quantity * 1_000 : quantity;
}

/** The parts of a line item. */
export type LineItem = Pick<BilledItem, "model" | "dimension" | "condition">;

/**
 * Reads a line item: `gpt-6-sol, cached input`, `priority | gpt-6-sol, output, long context`, or
 * `gpt-image-2 image, output`. One without a comma, such as `web search tool calls`, is not of a model.
 */
export function readLineItem(text: string | null): LineItem {
  const [named = "", ...words] = (text ?? "").split(",").map((part) => part.trim());
  if (words.length === 0) return { model: null, dimension: text, condition: null };
  const parts = named.split("|").map((part) => part.trim());
  const [model = "", medium = ""] = (parts.pop() ?? "").split(/\s+/);
  const [kind = "", ...conditions] = words;
  const condition = [...parts, ...conditions].filter((part) => part !== "").join(", ");
  return { model, dimension: dimensionOf(medium, kind), condition: condition === "" ? null : condition };
}

/** The price key of a kind of tokens: text is the usual medium. */
function dimensionOf(medium: string, kind: string): string {
  const words = kind.toLowerCase().replaceAll("_", " ").replace(/ tokens?$/, "");
  const own = medium === "" || medium === "text" ? "" : medium;
  if (/\bcache (?:write|creation)/.test(words)) {
    return /12.?h/.test(words) ? "input_cache_write_12h" : "input_cache_write_30m";
  }
  switch (words) {
    case "input":
      return own === "" ? "prompt" : own === "audio" ? "audio" : `${own}_input`;
    case "cached input":
      return own === "" ? "input_cache_read" : own === "audio" ? "audio_cache_read" : `${own}_input_cache_read`;
    case "output":
      return own === "" ? "completion" : `${own}_output`;
    default:
      return own === "" ? words : `${own} ${words}`;
  }
}

function addUsage(day: number, result: Bucket["results"][number], sink: ReportSink): void {
  const model = textOrNull(result.model);
  if (model === null) return;
  const cached = countIn(result, "input_cached_tokens");
  const written = countIn(result, "input_cache_write_tokens");
  const written12h = sumIn(result, "input_cache_write_12h_tokens");
  const input = countIn(result, "input_tokens");
  sink.addUsage({
    day,
    model,
    requests: countIn(result, "num_model_requests"),
    inputTokens: input,
    cacheReadTokens: cached,
    cacheWriteTokens: written,
    outputTokens: countIn(result, "output_tokens"),
    quantities: {
      prompt: Math.max(0, (input ?? 0) - (cached ?? 0) - (written ?? 0)),
      input_cache_read: cached ?? 0,
      input_cache_write_30m: Math.max(0, (written ?? 0) - written12h),
      input_cache_write_12h: written12h,
      completion: countIn(result, "output_tokens") ?? 0,
    },
  });
}
