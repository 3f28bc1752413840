import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError, type SimulatedErrorDetails } from "../../simulated_error.ts";
import { openAiFault } from "../schema_rules.ts";

/** Creates a 400 error that names the parameter. */
export function badParameter(param: string, message: string, code: string | null = null): SimulatedError {
  const details: SimulatedErrorDetails = code === null ? { param } : { param, code };
  return new SimulatedError(400, message, details);
}

/** @throws {SimulatedError} If the field is missing. */
export function checkPresent(body: JsonObject, name: string): void {
  if (!isAbsent(body[name])) return;
  throw badParameter(name, `Missing required parameter: '${name}'.`, "missing_required_parameter");
}

/** @throws {SimulatedError} If the field is present and not a number within the bounds. */
export function checkRange(body: JsonObject, name: string, min: number, max: number): void {
  const value = body[name];
  if (isAbsent(value)) return;
  const kind = Number.isInteger(value) ? "integer" : "decimal";
  if (typeof value !== "number") {
    throw badParameter(name, `Invalid type for '${name}': expected a number.`, "invalid_type");
  }
  if (value < min) {
    const message =
      `Invalid '${name}': ${kind} below minimum value. Expected a value >= ${min}, but got ${value} instead.`;
    throw badParameter(name, message, `${kind}_below_min_value`);
  }
  if (value > max) {
    const message =
      `Invalid '${name}': ${kind} above maximum value. Expected a value <= ${max}, but got ${value} instead.`;
    throw badParameter(name, message, `${kind}_above_max_value`);
  }
}

/** @throws {SimulatedError} If the text is longer than the vendor's maximum. */
export function checkLength(text: unknown, path: string, max: number): void {
  if (typeof text !== "string" || text.length <= max) return;
  const message =
    `Invalid '${path}': string too long. Expected a string with maximum length ${max}, but got a string ` +
    `with length ${text.length} instead.`;
  throw badParameter(path, message, "string_above_max_length");
}

/** @throws {SimulatedError} If the value is not one of the terms. */
export function checkChoice(value: unknown, path: string, choices: readonly string[]): void {
  if (typeof value === "string" && choices.includes(value)) return;
  const supported = choices.map((word) => `'${word}'`).join(", ");
  throw badParameter(path, `Invalid value: '${String(value)}'. Supported values are: ${supported}.`, "invalid_value");
}

const NAME = /^[a-zA-Z0-9_-]+$/;

/** @throws {SimulatedError} If the name has more than 64 characters or any other than letters, digits, `_` and `-`. */
export function checkName(name: unknown, path: string): void {
  if (typeof name !== "string" || name === "") {
    throw badParameter(path, `Missing required parameter: '${path}'.`, "missing_required_parameter");
  }
  checkLength(name, path, 64);
  if (NAME.test(name)) return;
  const message = `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern ` +
    "'^[a-zA-Z0-9_-]+$'.";
  throw badParameter(path, message, "invalid_value");
}

/**
 * Checks a function's parameters: the root is an object. Strict schemas must also be closed and list all properties as
 * required, at every level. Source: OpenAI guides "Function calling" and "Structured outputs", "Supported schemas".
 *
 * @throws {SimulatedError}
 */
export function checkParameters(schema: unknown, name: unknown, param: string, isStrict: boolean): void {
  if (isAbsent(schema)) return;
  const fault = topFault(schema) ?? propertiesFault(schema) ?? openAiFault(schema, isStrict) ??
    (isStrict ? looseness(schema, []) : null);
  if (fault === null) return;
  throw badParameter(param, `Invalid schema for function '${name}': ${fault}`, "invalid_function_parameters");
}

/**
 * Checks the schema of a structured reply. The rules apply if it is strict.
 *
 * @throws {SimulatedError}
 */
export function checkReplySchema(schema: unknown, name: unknown, param: string, isStrict: boolean): void {
  const fault = openAiFault(schema, isStrict) ?? (isStrict ? topFault(schema) ?? looseness(schema, []) : null);
  if (fault === null) return;
  throw badParameter(param, `Invalid schema for response_format '${name}': ${fault}`, "invalid_json_schema");
}

function topFault(schema: unknown): string | null {
  const type = isObject(schema) && typeof schema.type === "string" ? schema.type : "None";
  if (type !== "object") return `schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  const isChoice = ["oneOf", "anyOf", "allOf", "enum", "not"].some((keyword) => keyword in (schema as JsonObject));
  return isChoice
    ? "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    : null;
}

function propertiesFault(schema: unknown): string | null {
  const { properties, $ref } = isObject(schema) ? schema : {};
  return isObject(properties) || $ref !== undefined ? null : "In context=(), object schema missing properties.";
}

function looseness(schema: unknown, context: readonly string[]): string | null {
  if (!isObject(schema)) return null;
  const at = `In context=(${context.map((step) => `'${step}'`).join(", ")})`;
  const properties = isObject(schema.properties) ? schema.properties : null;
  if (schema.type === "object" || properties !== null) {
    if (schema.additionalProperties !== false) {
      return `${at}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const missing = Object.keys(properties ?? {}).find((name) => !listOf(schema.required).includes(name));
    if (missing !== undefined) {
      return `${at}, 'required' is required to be supplied and to be an array including every key in properties. ` +
        `Missing '${missing}'.`;
    }
  }
  const inner = [
    ...Object.entries(properties ?? {}).map(([name, value]) => [["properties", name], value] as const),
    ...["$defs", "definitions"].flatMap((group) =>
      isObject(schema[group])
        ? Object.entries(schema[group]).map(([name, value]) => [[group, name], value] as const)
        : []
    ),
    ...listOf(schema.anyOf).map((value, index) => [["anyOf", String(index)], value] as const),
    ...(schema.items === undefined ? [] : [[["items"], schema.items] as const]),
  ];
  for (const [steps, value] of inner) {
    const fault = looseness(value, [...context, ...steps]);
    if (fault !== null) return fault;
  }
  return null;
}
