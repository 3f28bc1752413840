import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";

/** `any` is an older name of `required` at one vendor. */
const CHOICES = ["none", "auto", "required", "any"];

/**
 * Checks that every tool has a name, and that a tool choice names an offered tool.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkTools(body: JsonObject): void {
  const { tools, functions, tool_choice: choice, function_call: legacyChoice } = body;
  if ((tools ?? functions ?? choice ?? legacyChoice ?? null) === null) return;
  const names = new Set<string>();
  if (tools !== undefined && tools !== null) {
    if (!Array.isArray(tools)) throw invalidField("tools", "expected an array");
    for (let i = 0; i < tools.length; i++) checkTool(tools[i], i, names);
  }
  if (functions !== undefined && functions !== null) {
    if (!Array.isArray(functions)) throw invalidField("functions", "expected an array");
    for (let i = 0; i < functions.length; i++) checkDefinition(functions[i], `functions[${i}]`, names);
  }
  checkChoice(choice, names);
  checkLegacyChoice(legacyChoice, names);
}

function checkTool(tool: unknown, i: number, names: Set<string>): void {
  if (typeof tool !== "object" || tool === null || Array.isArray(tool)) {
    throw invalidField(`tools[${i}]`, "expected an object");
  }
  const { type, function: definition, custom } = tool as JsonObject;
  if (type === "custom") return checkDefinition(custom, `tools[${i}].custom`, names);
  if (type === undefined || type === null || type === "function") {
    return checkDefinition(definition, `tools[${i}].function`, names);
  }
  if (typeof type !== "string") throw invalidField(`tools[${i}].type`, "expected a string");
}

function checkDefinition(definition: unknown, path: string, names: Set<string>): void {
  if (typeof definition !== "object" || definition === null || Array.isArray(definition)) {
    throw invalidField(path, "expected an object");
  }
  const { name, parameters } = definition as JsonObject;
  if (typeof name !== "string" || name === "") throw invalidField(`${path}.name`, "expected a name");
  if (
    parameters !== undefined && parameters !== null && (typeof parameters !== "object" || Array.isArray(parameters))
  ) {
    throw invalidField(`${path}.parameters`, "expected a JSON Schema");
  }
  names.add(name);
}

function checkChoice(choice: unknown, names: ReadonlySet<string>): void {
  if (choice === undefined || choice === null) return;
  if (typeof choice === "string") {
    if (CHOICES.includes(choice)) return;
    throw invalidField("tool_choice", 'expected "none", "auto", "required" or an object that names a tool');
  }
  if (typeof choice !== "object" || Array.isArray(choice)) {
    throw invalidField("tool_choice", "expected a string or an object");
  }
  const { type, allowed_tools: allowed } = choice as JsonObject;
  if (type === "allowed_tools") {
    const tools = (allowed as JsonObject | null | undefined)?.tools;
    if (!Array.isArray(tools)) throw invalidField("tool_choice.allowed_tools.tools", "expected an array");
    tools.forEach((tool, i) => checkNamed(tool, `tool_choice.allowed_tools.tools[${i}]`, names));
  } else checkNamed(choice, "tool_choice", names);
}

function checkNamed(choice: unknown, path: string, names: ReadonlySet<string>): void {
  const fields = choice as JsonObject | null;
  const kind = fields?.type ?? "function";
  if (kind !== "function" && kind !== "custom") return; // a hosted tool has no name
  const name = (fields?.[kind] as JsonObject | null | undefined)?.name;
  if (typeof name !== "string") throw invalidField(`${path}.${kind}.name`, "expected a tool's name");
  if (!names.has(name)) throw invalidField(`${path}.${kind}.name`, "expected the name of one of the request's tools");
}

function checkLegacyChoice(choice: unknown, names: ReadonlySet<string>): void {
  if (choice === undefined || choice === null || choice === "none" || choice === "auto") return;
  const name = (choice as JsonObject).name;
  if (typeof name !== "string") throw invalidField("function_call", 'expected "none", "auto" or an object with a name');
  if (!names.has(name)) {
    throw invalidField("function_call.name", "expected the name of one of the request's functions");
  }
}
