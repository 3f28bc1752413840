import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { BILL_DAY_MS, type BilledModel } from "../../bills.ts";
import { type Call, jsonResponse } from "../../call.ts";
import { decimalText, reportDays, reportLimit, reportPage } from "../../report_buckets.ts";
import { SimulatedError } from "../../simulated_error.ts";

const DAY_SECONDS = BILL_DAY_MS / 1_000;
const MAX_COST_DAYS = 180;
const MAX_USAGE_DAYS = 31;

/** What line items call the units. */
const WORDS: Readonly<Record<string, string>> = {
  prompt: "input",
  input_cache_read: "cached input",
  input_cache_write_5m: "cache write 30m",
  input_cache_write_1h: "cache write 30m",
  completion: "output",
};

/** `GET /v1/organization/costs`. Source: OpenAI API reference, "Costs". */
export function openaiCosts(call: Call): Response {
  return answer(call, "line_item", MAX_COST_DAYS, (billed) => {
    return [...billed.lines.values()].map(({ key, isLong, quantity, amount }) => ({
      object: "organization.costs.result",
      amount: { value: Number(decimalText(amount)), currency: "usd" },
      line_item: key === "web_search"
        ? "web search tool calls"
        : `${billed.model}, ${WORDS[key] ?? key}${isLong ? ", long context" : ""}`,
      quantity,
      quantity_unit: key === "web_search" ? null : "tokens",
      project_id: null,
    }));
  });
}

/** `GET /v1/organization/usage/completions`. Source: OpenAI API reference, "Completions". */
export function openaiUsage(call: Call): Response {
  return answer(call, "model", MAX_USAGE_DAYS, ({ model, requests, quantities }) => {
    const of = (key: string) => quantities.get(key) ?? 0;
    const written = of("input_cache_write_5m") + of("input_cache_write_1h");
    return [{
      object: "organization.usage.completions.result",
      input_tokens: of("prompt") + of("input_cache_read") + written,
      input_cached_tokens: of("input_cache_read"),
      input_cache_write_tokens: written,
      output_tokens: of("completion"),
      num_model_requests: requests,
      model,
      project_id: null,
      service_tier: null,
    }];
  });
}

/** Refuses the key of a project. */
function checkAdminKey({ headers }: Call): void {
  if (/^Bearer \S*admin/i.test(headers.get("authorization") ?? "")) return;
  const message = "You have insufficient permissions for this operation. Missing scopes: api.usage.read.";
  throw new SimulatedError(403, message, { code: "missing_scope" });
}

function answer(
  call: Call,
  group: string,
  maxDays: number,
  resultsOf: (billed: BilledModel) => readonly JsonObject[],
): Response {
  checkAdminKey(call);
  const { query, vendors, prefix } = call;
  const start = Number(query.get("start_time") ?? NaN);
  if (!Number.isInteger(start)) throw new SimulatedError(400, "Missing required parameter: 'start_time'.");
  if (query.get("group_by") !== group) throw new SimulatedError(400, `The sandbox groups by ${group} only.`);
  const now = vendors.clock.now() / 1_000;
  const selected = reportDays({
    from: Math.floor(start / DAY_SECONDS),
    to: Math.ceil(Number(query.get("end_time") ?? now) / DAY_SECONDS),
    limit: reportLimit(query, maxDays),
    page: query.get("page"),
  });
  const data = selected.days.map((day) => ({
    object: "bucket",
    start_time: day * DAY_SECONDS,
    end_time: (day + 1) * DAY_SECONDS,
    results: vendors.bills.of(prefix, day).flatMap(resultsOf),
  }));
  return jsonResponse({ object: "page", ...reportPage(selected, data) });
}
