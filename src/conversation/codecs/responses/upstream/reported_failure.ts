import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReportedFailure } from "../../../parts/reply/failed_reply.ts";
import { isObject, textOf } from "../../../neutral/wire_value.ts";
import { readError } from "./error.ts";

/** HTTP statuses of error codes in streams and failed responses. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ["rate_limit_exceeded", 429],
  // The gateway's account has no balance: another one may serve the request.
  ["insufficient_quota", 503],
  ["context_length_exceeded", 400],
  ["invalid_prompt", 400],
  ["invalid_request_error", 400],
]);

/** The failure of a response that ended before it was complete. */
export const CANCELLED: ReportedFailure = {
  type: "error",
  message: "The provider cancelled the response",
  vendorCode: null,
  status: null,
};

/** Reads a failure: fields at the top (as documented), in `error` (as recorded), or in a failed response. */
export function failureIn(body: JsonObject): ReportedFailure {
  if (body.status === "cancelled") return CANCELLED;
  const { message, code } = readError(body);
  const type = textOf(isObject(body.error) ? body.error.type : body.type);
  const text = message || "The provider reported a failure without a message";
  const status = STATUSES.get(code ?? "") ?? STATUSES.get(type) ?? null;
  return { type: "error", message: text, vendorCode: code, status };
}
