import { invalidField } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { isAbsent, isObject } from "./wire_value.ts";

interface LaterWork {
  /** Whether a value asks for it. */
  readonly asks: (value: unknown) => boolean;
  readonly expected: string;
}

const SWITCH: LaterWork = {
  asks: (value) => value !== false,
  expected: "expected false: the gateway has no endpoint that fetches a later answer",
};

const OTHER_MODELS: LaterWork = {
  asks: (value) => !Array.isArray(value) || value.length > 0,
  expected: "expected none: the gateway chooses where a model is served, and charges the model that `model` names",
};

/**
 * Fields by which a vendor works or bills beyond the answer, in any format, because vendors of one format take each
 * other's fields. `background`: Responses API, "Background mode". `deferred`: xAI, "Deferred chat completions".
 * `async`, `batch`: dialects of the chat format. `caching`: ModelArk, a cache that is billed by the hour. `models`:
 * OpenRouter, and `fallbacks`: Messages API (beta), other models than the one that is charged.
 */
const LATER_WORK: Readonly<Record<string, LaterWork>> = {
  background: SWITCH,
  deferred: SWITCH,
  async: SWITCH,
  batch: SWITCH,
  caching: {
    asks: (value) => !isObject(value) || value.type !== "disabled",
    expected: 'expected {"type": "disabled"}: a cache at the vendor is billed after the answer; use cached contents',
  },
  models: OTHER_MODELS,
  fallbacks: OTHER_MODELS,
};

/**
 * Refuses a request that makes a vendor work or bill beyond its answer.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function refuseLaterWork(body: JsonObject): void {
  for (const [field, { asks, expected }] of Object.entries(LATER_WORK)) {
    if (!Object.hasOwn(body, field) || isAbsent(body[field])) continue;
    if (asks(body[field])) throw invalidField(field, expected);
  }
}
