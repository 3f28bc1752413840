import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject } from "../../../neutral/wire_value.ts";
import { field, type FieldName, listIn, objectsIn, spellingOf } from "../shared/fields.ts";

/**
 * Checks `tools`, `toolConfig` and `generationConfig`.
 *
 * @param hasCache True when a cached content may declare more tools.
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkSettings(body: JsonObject, hasCache: boolean): void {
  checkTools(body);
  checkToolConfig(body, hasCache);
  checkGenerationConfig(body);
}

function checkTools(body: JsonObject): void {
  if (isAbsent(body.tools)) return;
  const tools = listIn(body.tools);
  if (tools === null) throw invalidField("tools", "expected an array of tools");
  for (let at = 0; at < tools.length; at++) {
    const tool: unknown = tools[at];
    if (!isObject(tool)) throw invalidField(`tools[${at}]`, "expected an object");
    const declared = field(tool, "functionDeclarations");
    if (declared === undefined) continue;
    const path = `tools[${at}].${spellingOf(tool, "functionDeclarations")}`;
    const declarations = listIn(declared);
    if (declarations === null) throw invalidField(path, "expected an array of declarations");
    declarations.forEach((declaration, index) => checkDeclaration(declaration, `${path}[${index}]`));
  }
}

function checkDeclaration(declaration: unknown, path: string): void {
  if (!isObject(declaration)) throw invalidField(path, "expected an object with name");
  if (typeof declaration.name !== "string" || declaration.name === "") {
    throw invalidField(`${path}.name`, "expected a tool's name");
  }
  if (!isAbsent(declaration.description) && typeof declaration.description !== "string") {
    throw invalidField(`${path}.description`, "expected a string");
  }
  if (!isAbsent(declaration.parameters) && !isObject(declaration.parameters)) {
    throw invalidField(`${path}.parameters`, "expected a schema");
  }
}

function checkToolConfig(body: JsonObject, hasCache: boolean): void {
  const config = field(body, "toolConfig");
  if (config === undefined) return;
  const path = spellingOf(body, "toolConfig");
  if (!isObject(config)) throw invalidField(path, "expected an object");
  const calling = field(config, "functionCallingConfig");
  if (calling === undefined) return;
  const callingPath = `${path}.${spellingOf(config, "functionCallingConfig")}`;
  if (!isObject(calling)) throw invalidField(callingPath, "expected an object with mode");
  if (!isAbsent(calling.mode) && typeof calling.mode !== "string") {
    throw invalidField(`${callingPath}.mode`, `expected "AUTO", "ANY" or "NONE"`);
  }
  const allowed = field(calling, "allowedFunctionNames");
  if (allowed === undefined) return;
  const allowedPath = `${callingPath}.${spellingOf(calling, "allowedFunctionNames")}`;
  if (!Array.isArray(allowed)) throw invalidField(allowedPath, "expected an array of tool names");
  const declared = declaredNames(body);
  allowed.forEach((name, index) => {
    if (typeof name !== "string") throw invalidField(`${allowedPath}[${index}]`, "expected a tool's name");
    if (!hasCache && !declared.has(name)) {
      throw invalidField(`${allowedPath}[${index}]`, "expected the name of a declared function");
    }
  });
}

function declaredNames(body: JsonObject): Set<unknown> {
  const names = new Set<unknown>();
  for (const tool of objectsIn(body.tools)) {
    for (const declaration of objectsIn(field(tool, "functionDeclarations"))) names.add(declaration.name);
  }
  return names;
}

/** Number fields of `generationConfig`, with minimum, maximum, and whether only integers are allowed. */
const NUMBERS:
  readonly (readonly [name: FieldName | "temperature" | "seed", min: number, max: number, isInteger: boolean])[] = [
    ["temperature", 0, 2, false],
    ["topP", 0, 1, false],
    ["topK", 0, Infinity, false],
    ["maxOutputTokens", 1, Infinity, true],
    ["candidateCount", 1, Infinity, true],
    ["presencePenalty", -2, 2, false],
    ["frequencyPenalty", -2, 2, false],
    ["seed", -Infinity, Infinity, true],
  ];

const TEXTS: readonly FieldName[] = ["responseMimeType", "mediaResolution"];

function checkGenerationConfig(body: JsonObject): void {
  const config = field(body, "generationConfig");
  if (config === undefined) return;
  const path = spellingOf(body, "generationConfig");
  if (!isObject(config)) throw invalidField(path, "expected an object");
  for (const [name, min, max, isInteger] of NUMBERS) checkNumber(config, path, name, min, max, isInteger);
  for (const name of TEXTS) {
    const text = field(config, name);
    if (text !== undefined && typeof text !== "string") {
      throw invalidField(`${path}.${spellingOf(config, name)}`, "expected a string");
    }
  }
  const stop = field(config, "stopSequences");
  if (stop !== undefined && !(Array.isArray(stop) && stop.every((sequence) => typeof sequence === "string"))) {
    throw invalidField(`${path}.${spellingOf(config, "stopSequences")}`, "expected an array of strings");
  }
  const schema = field(config, "responseSchema");
  if (schema !== undefined && !isObject(schema)) {
    throw invalidField(`${path}.${spellingOf(config, "responseSchema")}`, "expected a schema");
  }
  checkThinkingConfig(config, path);
}

function checkNumber(
  config: JsonObject,
  path: string,
  name: FieldName | "temperature" | "seed",
  min: number,
  max: number,
  isInteger: boolean,
): void {
  const isPlain = name === "temperature" || name === "seed";
  const value = isPlain ? config[name] ?? undefined : field(config, name);
  if (value === undefined) return;
  if (typeof value === "number" && Number.isFinite(value) && value >= min && value <= max) {
    if (!isInteger || Number.isInteger(value)) return;
  }
  const kind = isInteger ? "an integer" : "a number";
  const range = min === -Infinity ? "" : max === Infinity ? ` of at least ${min}` : ` from ${min} to ${max}`;
  throw invalidField(`${path}.${isPlain ? name : spellingOf(config, name)}`, `expected ${kind}${range}`);
}

function checkThinkingConfig(config: JsonObject, path: string): void {
  const thinking = field(config, "thinkingConfig");
  if (thinking === undefined) return;
  const thinkingPath = `${path}.${spellingOf(config, "thinkingConfig")}`;
  if (!isObject(thinking)) throw invalidField(thinkingPath, "expected an object");
  const budget = field(thinking, "thinkingBudget");
  if (budget !== undefined && !(Number.isInteger(budget) && (budget as number) >= -1)) {
    throw invalidField(
      `${thinkingPath}.${spellingOf(thinking, "thinkingBudget")}`,
      "expected an integer of at least -1",
    );
  }
  const includes = field(thinking, "includeThoughts");
  if (includes !== undefined && typeof includes !== "boolean") {
    throw invalidField(`${thinkingPath}.${spellingOf(thinking, "includeThoughts")}`, "expected a boolean");
  }
  const level = field(thinking, "thinkingLevel");
  if (level !== undefined && typeof level !== "string") {
    throw invalidField(`${thinkingPath}.${spellingOf(thinking, "thinkingLevel")}`, "expected a string");
  }
}
