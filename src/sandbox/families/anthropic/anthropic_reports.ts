import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { BILL_DAY_MS, type BilledModel } from "../../bills.ts";
import { type Call, jsonResponse } from "../../call.ts";
import { decimalText, reportDays, reportLimit, reportPage } from "../../report_buckets.ts";
import { SimulatedError } from "../../simulated_error.ts";

const MAX_DAYS = 31;
const CENTS = 2;

const TOKEN_TYPES: Readonly<Record<string, string>> = {
  prompt: "uncached_input_tokens",
  input_cache_read: "cache_read_input_tokens",
  input_cache_write_5m: "cache_creation.ephemeral_5m_input_tokens",
  input_cache_write_1h: "cache_creation.ephemeral_1h_input_tokens",
  completion: "output_tokens",
};

/** `GET /v1/organizations/cost_report`. Source: Claude API reference, "Get Cost Report". */
export function anthropicCosts(call: Call): Response {
  return answer(call, "description", (billed) => {
    return [...billed.lines.values()].map(({ key, isLong, amount }) => {
      const isTokens = key !== "web_search";
      return {
        currency: "USD",
        amount: decimalText(amount, CENTS),
        workspace_id: null,
        description: isTokens ? `${billed.model} Usage - ${TOKEN_TYPES[key] ?? key}` : "Web Search Usage",
        cost_type: isTokens ? "tokens" : "web_search",
        context_window: isTokens ? (isLong ? "200k-1M" : "0-200k") : null,
        model: isTokens ? billed.model : null,
        service_tier: isTokens ? "standard" : null,
        token_type: isTokens ? TOKEN_TYPES[key] ?? key : null,
        inference_geo: null,
      };
    });
  });
}

/** `GET /v1/organizations/usage_report/messages`. Source: Claude API reference, "Get Messages Usage Report". */
export function anthropicUsage(call: Call): Response {
  return answer(call, "model", ({ model, quantities }) => {
    const of = (key: string) => quantities.get(key) ?? 0;
    return [{
      uncached_input_tokens: of("prompt"),
      cache_creation: {
        ephemeral_1h_input_tokens: of("input_cache_write_1h"),
        ephemeral_5m_input_tokens: of("input_cache_write_5m"),
      },
      cache_read_input_tokens: of("input_cache_read"),
      output_tokens: of("completion"),
      server_tool_use: { web_search_requests: of("web_search") },
      api_key_id: null,
      workspace_id: null,
      model,
      service_tier: null,
      context_window: null,
      inference_geo: null,
    }];
  });
}

/** The reports take admin keys only. */
function checkAdminKey({ headers }: Call): void {
  if (!/admin/.test(headers.get("x-api-key") ?? "")) throw new SimulatedError(401, "invalid x-api-key");
}

function answer(call: Call, group: string, resultsOf: (billed: BilledModel) => readonly JsonObject[]): Response {
  checkAdminKey(call);
  const { query, vendors, prefix } = call;
  if (query.get("group_by[]") !== group) throw new SimulatedError(400, `The sandbox groups by ${group} only.`);
  const dayIn = (name: string) => Date.parse(query.get(name) ?? "") / BILL_DAY_MS;
  const from = Math.floor(dayIn("starting_at"));
  if (Number.isNaN(from)) throw new SimulatedError(400, "starting_at: Field required");
  const to = query.has("ending_at") ? Math.floor(dayIn("ending_at")) : Math.ceil(vendors.clock.now() / BILL_DAY_MS);
  const selected = reportDays({ from, to, limit: reportLimit(query, MAX_DAYS), page: query.get("page") });
  const data = selected.days.map((day) => ({
    starting_at: instantOf(day),
    ending_at: instantOf(day + 1),
    results: vendors.bills.of(prefix, day).flatMap(resultsOf),
  }));
  return jsonResponse(reportPage(selected, data));
}

function instantOf(day: number): string {
  return `${new Date(day * BILL_DAY_MS).toISOString().slice(0, 19)}Z`;
}
