import { isObject, textOrNull } from "../../conversation/neutral/wire_value.ts";
import { DAY_MS } from "../../money/billing/usage/usage_records.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
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
import { ownValue } from "../../platform/lib/collections/own_value.ts";

const COSTS = "/v1/organizations/cost_report";
const USAGE = "/v1/organizations/usage_report/messages";

/** Amounts are cents as decimal text: `"123.45"` is 1.2345 USD. */
const CENTS = 2;

/** The price keys of `token_type`. */
const TOKEN_TYPES: Readonly<Record<string, string>> = {
  "uncached_input_tokens": "prompt",
  "output_tokens": "completion",
  "cache_read_input_tokens": "input_cache_read",
  "cache_creation.ephemeral_5m_input_tokens": "input_cache_write_5m",
  "cache_creation.ephemeral_1h_input_tokens": "input_cache_write_1h",
};

/**
 * Reads the costs of an organization by description, and the usage of its models. Source: Claude API reference, "Get
 * Cost Report", "Get Messages Usage Report".
 */
export async function readAnthropicReport(read: ReadReport, range: ReportRange, sink: ReportSink): Promise<void> {
  const query = new URLSearchParams({
    starting_at: instantOf(range.fromDay),
    ending_at: instantOf(range.toDay),
    bucket_width: "1d",
    limit: String(DAYS_PER_PAGE),
  });
  await readPages(read, COSTS, new URLSearchParams([...query, ["group_by[]", "description"]]), (bucket) => {
    for (const result of bucket.results) sink.addItem(itemOf(dayOf(bucket), result));
  });
  await readPages(read, USAGE, new URLSearchParams([...query, ["group_by[]", "model"]]), (bucket) => {
    for (const result of bucket.results) addUsage(dayOf(bucket), result, sink);
  });
}

function instantOf(day: number): string {
  return `${new Date(day * DAY_MS).toISOString().slice(0, 19)}Z`;
}

function dayOf({ bucket }: Bucket): number {
  const start = Date.parse(String(bucket.starting_at));
  if (Number.isNaN(start)) throw unexpectedReport('a bucket has no "starting_at"');
  return Math.floor(start / DAY_MS);
}

function itemOf(day: number, result: JsonObject): BilledItem {
  const amount = readExactUsd(result.amount, CENTS);
  if (amount === null) throw unexpectedReport('a cost has no decimal "amount"');
  const currency = textOrNull(result.currency) ?? "USD";
  if (currency.toUpperCase() !== "USD") throw unexpectedReport(`expected amounts in USD, got ${currency.slice(0, 10)}`);
  const { cost_type, token_type, description } = result;
  const words = textOrNull(cost_type) === "tokens" ? textOrNull(token_type) : textOrNull(cost_type);
  const dimension = words === null ? textOrNull(description) : ownValue(TOKEN_TYPES, words) ?? words;
  return { day, model: textOrNull(result.model), dimension, condition: conditionOf(result), amount, quantity: null };
}

/** What makes a price another one than usual. */
function conditionOf({ service_tier, context_window, inference_geo }: JsonObject): string | null {
  const parts = [
    service_tier === "standard" ? null : textOrNull(service_tier),
    context_window === "0-200k" ? null : textOrNull(context_window),
    inference_geo === "global" || inference_geo === "not_available" ? null : textOrNull(inference_geo),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(", ");
}

function addUsage(day: number, result: JsonObject, sink: ReportSink): void {
  const model = textOrNull(result.model);
  if (model === null) return;
  const written = isObject(result.cache_creation) ? result.cache_creation : {};
  const fresh = sumIn(result, "uncached_input_tokens");
  const cached = sumIn(result, "cache_read_input_tokens");
  const [written5m, written1h] = [
    sumIn(written, "ephemeral_5m_input_tokens"),
    sumIn(written, "ephemeral_1h_input_tokens"),
  ];
  sink.addUsage({
    day,
    model,
    requests: null,
    inputTokens: fresh + cached + written5m + written1h,
    cacheReadTokens: cached,
    cacheWriteTokens: written5m + written1h,
    outputTokens: countIn(result, "output_tokens"),
    quantities: {
      prompt: fresh,
      input_cache_read: cached,
      input_cache_write_5m: written5m,
      input_cache_write_1h: written1h,
      completion: sumIn(result, "output_tokens"),
      web_search: isObject(result.server_tool_use) ? sumIn(result.server_tool_use, "web_search_requests") : 0,
    },
  });
}
