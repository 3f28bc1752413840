import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import { checkItems, type ItemsSeen } from "./check_items.ts";
import { isAbsent, isObject } from "../../../neutral/wire_value.ts";

const TEXTS = ["instructions", "previous_response_id", "user", "safety_identifier", "prompt_cache_key", "truncation"];
const SWITCHES = ["stream", "store", "background", "parallel_tool_calls"];
const OBJECTS = ["metadata", "reasoning", "text", "stream_options", "prompt"];
const RANGES: readonly (readonly [field: string, min: number, max: number, isInteger: boolean])[] = [
  ["temperature", 0, 2, false],
  ["top_p", 0, 1, false],
  ["top_logprobs", 0, 20, true],
  ["max_output_tokens", 1, Infinity, true],
  ["max_tool_calls", 0, Infinity, true],
];
const MAX_MODEL_NAME_CHARACTERS = 256;

/**
 * Checks the rules that hold for every vendor of this format. Written by hand for speed, as it runs on every request,
 * also when the bytes pass through. Source: Responses API reference, "Create a model response".
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkRequest(body: JsonObject): void {
  checkModel(body.model);
  for (const field of TEXTS) {
    if (!isAbsent(body[field]) && typeof body[field] !== "string") throw invalidField(field, "expected a string");
  }
  for (const field of SWITCHES) {
    if (!isAbsent(body[field]) && typeof body[field] !== "boolean") throw invalidField(field, "expected true or false");
  }
  for (const field of OBJECTS) {
    if (!isAbsent(body[field]) && !isObject(body[field])) throw invalidField(field, "expected an object");
  }
  for (const [field, min, max, isInteger] of RANGES) checkNumber(body[field], field, min, max, isInteger);
  if (!isAbsent(body.include) && !Array.isArray(body.include)) throw invalidField("include", "expected an array");
  checkTextSettings(body);
  const seen = checkInput(body);
  checkTools(body, seen);
}

function checkModel(model: unknown): void {
  if (typeof model !== "string" || model === "") throw invalidField("model", "expected the name of a model");
  if (model.length > MAX_MODEL_NAME_CHARACTERS) {
    throw invalidField("model", `expected at most ${MAX_MODEL_NAME_CHARACTERS} characters`);
  }
}

function checkNumber(value: unknown, field: string, min: number, max: number, isInteger: boolean): void {
  if (isAbsent(value)) return;
  const expected = `expected ${isInteger ? "an integer" : "a number"} ${
    max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`
  }`;
  if (typeof value !== "number" || !Number.isFinite(value)) throw invalidField(field, expected);
  if (value < min || value > max || (isInteger && !Number.isInteger(value))) {
    throw invalidField(field, `${expected}, got ${value}`);
  }
}

function checkTextSettings(body: JsonObject): void {
  const { reasoning, text } = body;
  if (isObject(reasoning)) {
    for (const field of ["effort", "summary"]) {
      if (!isAbsent(reasoning[field]) && typeof reasoning[field] !== "string") {
        throw invalidField(`reasoning.${field}`, "expected a string");
      }
    }
  }
  if (!isObject(text)) return;
  if (!isAbsent(text.verbosity) && typeof text.verbosity !== "string") {
    throw invalidField("text.verbosity", "expected a string");
  }
  if (!isAbsent(text.format)) checkFormat(text.format);
}

function checkFormat(format: unknown): void {
  if (!isObject(format) || typeof format.type !== "string") {
    throw invalidField("text.format", 'expected an object with a "type"');
  }
  if (format.type !== "json_schema") return;
  if (typeof format.name !== "string" || format.name === "") {
    throw invalidField("text.format.name", "expected the name of the schema");
  }
  if (!isObject(format.schema)) throw invalidField("text.format.schema", "expected a JSON Schema object");
}

function checkInput(body: JsonObject): ItemsSeen {
  const { input } = body;
  const continues = !isAbsent(body.previous_response_id) || !isAbsent(body.conversation) || !isAbsent(body.prompt);
  if (typeof input === "string") return { calls: null, addsTools: continues };
  if (Array.isArray(input) && (input.length > 0 || continues)) {
    const seen = checkItems(input, continues);
    return { ...seen, addsTools: seen.addsTools || continues };
  }
  if (isAbsent(input) && continues) return { calls: null, addsTools: true };
  throw invalidField("input", "expected a string or an array of at least one item");
}

function checkTools(body: JsonObject, seen: ItemsSeen): void {
  const { tools, tool_choice: choice } = body;
  const names = new Set<string>();
  if (!isAbsent(tools)) {
    if (!Array.isArray(tools)) throw invalidField("tools", "expected an array");
    for (let index = 0; index < tools.length; index++) checkTool(tools[index], `tools[${index}]`, names);
  }
  if (isAbsent(choice) || typeof choice === "string") return checkChoiceName(choice);
  if (!isObject(choice) || typeof choice.type !== "string") {
    throw invalidField("tool_choice", 'expected "none", "auto", "required" or an object with a "type"');
  }
  if (choice.type !== "function" && choice.type !== "custom") return;
  if (typeof choice.name !== "string") throw invalidField("tool_choice.name", "expected the name of a tool");
  if (!names.has(choice.name) && !seen.addsTools) {
    throw invalidField("tool_choice.name", "expected the name of one of the tools of this request");
  }
}

function checkChoiceName(choice: string | null | undefined): void {
  if (isAbsent(choice) || choice === "auto" || choice === "none" || choice === "required") return;
  throw invalidField("tool_choice", 'expected "none", "auto", "required" or an object with a "type"');
}

function checkTool(tool: unknown, path: string, names: Set<string>): void {
  if (!isObject(tool) || typeof tool.type !== "string") throw invalidField(path, 'expected an object with a "type"');
  if (tool.type !== "function" && tool.type !== "custom" && tool.type !== "namespace") return;
  if (typeof tool.name !== "string" || tool.name === "") throw invalidField(`${path}.name`, "expected a name");
  names.add(tool.name);
  if (tool.type === "function" && !isAbsent(tool.parameters) && !isObject(tool.parameters)) {
    throw invalidField(`${path}.parameters`, "expected a JSON Schema object");
  }
  if (tool.type === "namespace" && Array.isArray(tool.tools)) {
    tool.tools.forEach((inner, index) => checkTool(inner, `${path}.tools[${index}]`, names));
  }
}
