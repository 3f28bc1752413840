import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { checkMessages } from "./check_messages.ts";
import { checkTools } from "./check_tools.ts";

const MAX_MODEL_NAME_CHARACTERS = 512;

/** Numbers with their ranges at all vendors. Source: Chat Completions reference, "Create". */
const NUMBERS: readonly (readonly [name: string, min: number, max: number])[] = [
  ["temperature", 0, 2],
  ["top_p", 0, 1],
  ["presence_penalty", -2, 2],
  ["frequency_penalty", -2, 2],
];

/** Whole numbers. A seed above 2^53 is accepted, because its digits are forwarded unchanged. */
const INTEGERS: readonly (readonly [name: string, min: number, max: number])[] = [
  ["max_tokens", 1, Infinity],
  ["max_completion_tokens", 1, Infinity],
  ["n", 1, 128],
  ["seed", -Infinity, Infinity],
  ["top_logprobs", 0, 20],
];

const BOOLEANS = ["stream", "parallel_tool_calls", "logprobs", "store"] as const;
const TEXTS = ["user", "safety_identifier", "prompt_cache_key", "reasoning_effort", "verbosity"] as const;
const OBJECTS = ["stream_options", "metadata", "logit_bias", "audio", "web_search_options", "extra_body"] as const;

/** Throws unless a field's value, which is neither undefined nor null, is valid. */
type FieldCheck = (value: unknown, name: string) => void;

const FIELD_CHECKS: ReadonlyMap<string, FieldCheck> = new Map<string, FieldCheck>([
  ...NUMBERS.map(([name, min, max]) => [name, numberCheck(min, max)] as const),
  ...INTEGERS.map(([name, min, max]) => [name, integerCheck(min, max)] as const),
  ["top_k", typeCheck(Number.isFinite, "expected a number")],
  ...BOOLEANS.map((name) =>
    [name, typeCheck((value) => typeof value === "boolean", "expected true or false")] as const
  ),
  ...TEXTS.map((name) => [name, typeCheck((value) => typeof value === "string", "expected a string")] as const),
  ...OBJECTS.map((name) =>
    [name, typeCheck((value) => typeof value === "object" && !Array.isArray(value), "expected an object")] as const
  ),
]);

function numberCheck(min: number, max: number): FieldCheck {
  return (value, name) => {
    if (typeof value === "number" && value >= min && value <= max) return;
    throw invalidField(name, `expected a number from ${min} to ${max}`);
  };
}

function integerCheck(min: number, max: number): FieldCheck {
  return (value, name) => {
    if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
    throw invalidField(name, `expected an integer${rangeText(min, max)}`);
  };
}

function typeCheck(isValid: (value: unknown) => boolean, message: string): FieldCheck {
  return (value, name) => {
    if (!isValid(value)) throw invalidField(name, message);
  };
}

/**
 * Rejects what every vendor of the chat format rejects, and accepts what any of them may support. Written by hand for
 * speed, as it runs on every request, also when the bytes pass through.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkRequest(body: JsonObject): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalidField("body", "expected a JSON object");
  }
  checkModel(body.model);
  checkMessages(body.messages);
  checkFields(body);
  checkStop(body.stop);
  checkLogitBias(body.logit_bias);
  checkResponseFormat(body.response_format);
  checkTools(body);
}

function checkModel(model: unknown): void {
  if (typeof model !== "string" || model === "") throw invalidField("model", "expected a model id");
  if (model.length > MAX_MODEL_NAME_CHARACTERS) {
    throw invalidField("model", `expected at most ${MAX_MODEL_NAME_CHARACTERS} characters, got ${model.length}`);
  }
}

/** Checks the fields that can be checked alone. The body has few of the known names, so those are looked up by name. */
function checkFields(body: JsonObject): void {
  for (const name in body) {
    const value = body[name];
    if (value !== undefined && value !== null) FIELD_CHECKS.get(name)?.(value, name);
  }
  const includeUsage = (body.stream_options as JsonObject | null | undefined)?.include_usage;
  if (includeUsage !== undefined && includeUsage !== null && typeof includeUsage !== "boolean") {
    throw invalidField("stream_options.include_usage", "expected true or false");
  }
}

function rangeText(min: number, max: number): string {
  if (max !== Infinity) return ` from ${min} to ${max}`;
  return min === -Infinity ? "" : ` of at least ${min}`;
}

function checkStop(stop: unknown): void {
  if (stop === undefined || stop === null || typeof stop === "string") return;
  if (!Array.isArray(stop)) throw invalidField("stop", "expected a string or an array of strings");
  const wrong = stop.findIndex((sequence) => typeof sequence !== "string");
  if (wrong >= 0) throw invalidField(`stop[${wrong}]`, "expected a string");
}

function checkLogitBias(bias: unknown): void {
  if (bias === undefined || bias === null) return;
  for (const value of Object.values(bias)) {
    if (!Number.isFinite(value)) throw invalidField("logit_bias", "expected numbers by token");
  }
}

function checkResponseFormat(format: unknown): void {
  if (format === undefined || format === null) return;
  if (typeof format !== "object" || Array.isArray(format)) throw invalidField("response_format", "expected an object");
  const { type, json_schema: schema } = format as JsonObject;
  if (typeof type !== "string") throw invalidField("response_format.type", "expected a string");
  if (type !== "json_schema") return;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw invalidField("response_format.json_schema", "expected an object");
  }
}
