import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { checkMessages } from "./check_messages.ts";
import { checkTools } from "./check_tools.ts";

const LONGEST_MODEL_NAME = 512;

/** Numbers that any vendor takes only within these bounds. Source: Chat Completions reference, "Create". */
const NUMBERS: readonly (readonly [name: string, least: number, most: number])[] = [
  ["temperature", 0, 2],
  ["top_p", 0, 1],
  ["presence_penalty", -2, 2],
  ["frequency_penalty", -2, 2],
];

/** Whole numbers; a seed beyond 2^53 still passes, as its digits are forwarded untouched. */
const INTEGERS: readonly (readonly [name: string, least: number, most: number])[] = [
  ["max_tokens", 1, Infinity],
  ["max_completion_tokens", 1, Infinity],
  ["n", 1, 128],
  ["seed", -Infinity, Infinity],
  ["top_logprobs", 0, 20],
];

const BOOLEANS = ["stream", "parallel_tool_calls", "logprobs", "store"] as const;
const TEXTS = ["user", "safety_identifier", "prompt_cache_key", "reasoning_effort", "verbosity"] as const;
const OBJECTS = ["stream_options", "metadata", "logit_bias", "audio", "web_search_options", "extra_body"] as const;

/**
 * Refuses what every vendor of the chat form refuses; what one of them may take, passes. Written by hand, as it runs
 * on every request, also where bytes pass through.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkRequest(body: JsonObject): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalidField("body", "expected a JSON object");
  }
  checkModel(body.model);
  checkMessages(body.messages);
  checkNumbers(body);
  checkPlainFields(body);
  checkStop(body.stop);
  checkLogitBias(body.logit_bias);
  checkResponseFormat(body.response_format);
  checkTools(body);
}

function checkModel(model: unknown): void {
  if (typeof model !== "string" || model === "") throw invalidField("model", "expected a model id");
  if (model.length > LONGEST_MODEL_NAME) {
    throw invalidField("model", `expected at most ${LONGEST_MODEL_NAME} characters, got ${model.length}`);
  }
}

function checkNumbers(body: JsonObject): void {
  for (const [name, least, most] of NUMBERS) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "number" || !(value >= least && value <= most)) {
      throw invalidField(name, `expected a number from ${least} to ${most}`);
    }
  }
  for (const [name, least, most] of INTEGERS) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw invalidField(name, `expected an integer${rangeText(least, most)}`);
    }
  }
  if (body.top_k !== undefined && body.top_k !== null && !Number.isFinite(body.top_k)) {
    throw invalidField("top_k", "expected a number");
  }
}

function rangeText(least: number, most: number): string {
  if (most !== Infinity) return ` from ${least} to ${most}`;
  return least === -Infinity ? "" : ` of at least ${least}`;
}

function checkPlainFields(body: JsonObject): void {
  for (const name of BOOLEANS) {
    const value = body[name];
    if (value !== undefined && value !== null && typeof value !== "boolean") {
      throw invalidField(name, "expected true or false");
    }
  }
  for (const name of TEXTS) {
    const value = body[name];
    if (value !== undefined && value !== null && typeof value !== "string") throw invalidField(name, "expected text");
  }
  for (const name of OBJECTS) {
    const value = body[name];
    if (value !== undefined && value !== null && (typeof value !== "object" || Array.isArray(value))) {
      throw invalidField(name, "expected an object");
    }
  }
  const includeUsage = (body.stream_options as JsonObject | null | undefined)?.include_usage;
  if (includeUsage !== undefined && includeUsage !== null && typeof includeUsage !== "boolean") {
    throw invalidField("stream_options.include_usage", "expected true or false");
  }
}

function checkStop(stop: unknown): void {
  if (stop === undefined || stop === null || typeof stop === "string") return;
  if (!Array.isArray(stop)) throw invalidField("stop", "expected text or an array of texts");
  const wrong = stop.findIndex((sequence) => typeof sequence !== "string");
  if (wrong >= 0) throw invalidField(`stop[${wrong}]`, "expected text");
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
  if (typeof type !== "string") throw invalidField("response_format.type", "expected text");
  if (type !== "json_schema") return;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw invalidField("response_format.json_schema", "expected an object");
  }
}
