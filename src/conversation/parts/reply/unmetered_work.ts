import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject } from "../../neutral/wire_value.ts";

interface LaterWork {
  /** Whether a value requests it. */
  readonly isRequested: (value: unknown) => boolean;
  readonly expected: string;
}

const SWITCH: LaterWork = {
  isRequested: (value) => value !== false,
  expected: "expected false: the gateway has no endpoint to fetch the result of a background request",
};

const OTHER_MODELS: LaterWork = {
  isRequested: (value) => !Array.isArray(value) || value.length > 0,
  expected: "expected no models: the gateway chooses the provider and charges for the model in `model`",
};

/**
 * Fields that make a vendor do or bill work that the gateway does not meter. They are checked in every format, because
 * vendors of one format accept each other's fields. `background`: Responses API, "Background mode". `deferred`: xAI,
 * "Deferred chat completions". `async`, `batch`: dialects of the chat format. `caching`: ModelArk, a cache billed by
 * the hour. `models`: OpenRouter, and `fallbacks`: Messages API (beta), models other than the charged one.
 */
const LATER_WORK: ReadonlyMap<string, LaterWork> = new Map(Object.entries<LaterWork>({
  background: SWITCH,
  deferred: SWITCH,
  async: SWITCH,
  batch: SWITCH,
  caching: {
    isRequested: (value) => !isObject(value) || value.type !== "disabled",
    expected: 'expected {"type": "disabled"}: a vendor cache is billed after the reply; use cached contents instead',
  },
  models: OTHER_MODELS,
  fallbacks: OTHER_MODELS,
}));

/**
 * Rejects a request that makes a vendor do or bill work after its reply, or use other models.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function rejectUnmeteredWork(body: JsonObject): void {
  for (const field in body) {
    const work = LATER_WORK.get(field);
    if (work === undefined || isAbsent(body[field])) continue;
    if (work.isRequested(body[field])) throw invalidField(field, work.expected);
  }
}
