import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { BILL_DAY_MS, type BilledModel } from "../../bills.ts";
import { type Call, jsonResponse } from "../../call.ts";
import { decimalText } from "../../report_buckets.ts";
import { SimulatedError } from "../../simulated_error.ts";

const MAX_AGE_DAYS = 30;

/** `GET /api/v1/activity`. Source: OpenRouter API reference, "Get user activity grouped by endpoint". */
export function openrouterActivity({ headers, query, vendors, prefix }: Call): Response {
  if (!/^Bearer \S*admin/i.test(headers.get("authorization") ?? "")) {
    throw new SimulatedError(403, "Only management keys can perform this operation");
  }
  const today = Math.floor(vendors.clock.now() / BILL_DAY_MS);
  const date = query.get("date");
  const asked = date === null ? null : Date.parse(`${date}T00:00:00Z`) / BILL_DAY_MS;
  if (asked !== null && !(asked >= today - MAX_AGE_DAYS && asked < today)) {
    throw new SimulatedError(400, "Date must be within the last 30 (completed) UTC days");
  }
  const days = asked === null ? Array.from({ length: MAX_AGE_DAYS }, (_, place) => today - 1 - place) : [asked];
  return jsonResponse({ data: days.flatMap((day) => vendors.bills.of(prefix, day).map((each) => itemOf(day, each))) });
}

function itemOf(day: number, { model, requests, quantities, lines }: BilledModel): JsonObject {
  const of = (key: string) => quantities.get(key) ?? 0;
  const amount = [...lines.values()].reduce((sum, line) => sum + line.amount, 0n);
  return {
    date: new Date(day * BILL_DAY_MS).toISOString().slice(0, 10),
    model,
    model_permaslug: model,
    endpoint_id: "00000000-0000-4000-8000-000000000000",
    provider_name: "Sandbox",
    usage: Number(decimalText(amount)),
    byok_usage_inference: 0,
    requests,
    prompt_tokens: of("prompt") + of("input_cache_read") + of("input_cache_write_5m") + of("input_cache_write_1h"),
    completion_tokens: of("completion"),
    reasoning_tokens: 0,
  };
}
