import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, listOf, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import { checkSearchTool, checkToolFields, checkTopFields, invalidRequest } from "./anthropic_fields.ts";
import { checkCacheMarkers } from "./anthropic_cache_rules.ts";
import { checkMessages } from "./anthropic_message_rules.ts";
import { anthropicToolFault, complexityFault, enforcedFault } from "../schema_rules.ts";
import { checkMessageModel } from "./anthropic_model_rules.ts";

/**
 * Rejects a message request that the vendor rejects, with the vendor's message. A model of an unknown name counts as
 * one that still accepts `temperature`. Source: Messages API reference; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkMessage(body: JsonObject): void {
  checkTopFields(body, false);
  for (const name of ["model", "max_tokens", "messages"]) checkPresent(body, name);
  if (!Number.isInteger(body.max_tokens) || (body.max_tokens as number) < 0) {
    throw invalidRequest("max_tokens", "Input should be greater than or equal to 0");
  }
  checkSampling(body);
  checkUser(body.metadata);
  checkContents(body);
  checkMessageModel(body);
}

/** Source: BerriAI/litellm#10106, which has the whole answer. */
function checkUser(metadata: unknown): void {
  const user = isObject(metadata) ? String(metadata.user_id ?? "") : "";
  const kind = /\S@\S+\.\S/.test(user) ? "an email address" : /^\+?[\d\s()-]{7,}$/.test(user) ? "a phone number" : null;
  if (kind === null) return;
  throw invalidRequest(
    "metadata.user_id",
    `user_id appears to contain ${kind}. Please send a uuid or hash value instead.`,
  );
}

/** Does the same for a request that only counts tokens. Throws the same errors. */
export function checkMessageCount(body: JsonObject): void {
  checkTopFields(body, true);
  for (const name of ["model", "messages"]) checkPresent(body, name);
  checkContents(body);
}

function checkContents(body: JsonObject): void {
  checkSystem(body.system);
  checkTools(body);
  checkThinking(body);
  checkMessages(body.messages, isObject(body.thinking) && body.thinking.type === "enabled", body.tools);
  checkCacheMarkers(body);
  checkFormat(body.output_config);
  checkStrictSchemas(body);
}

function checkStrictSchemas({ tools, output_config: config }: JsonObject): void {
  const strict = objectsOf(tools).filter((tool) => tool.strict === true && isObject(tool.input_schema));
  const format = isObject(config) && isObject(config.format) ? config.format.schema : null;
  const schemas = [...strict.map((tool) => tool.input_schema), format].filter(isObject);
  const fault = schemas.map(enforcedFault).find((each) => each !== null) ?? complexityFault(schemas, strict.length);
  if (fault !== null) throw invalidRequest("", fault);
}

function checkPresent(body: JsonObject, name: string): void {
  if (isAbsent(body[name])) throw invalidRequest(name, "Field required");
}

/** Models before the fourth generation, by the vendor's naming. */
const TAKES_BOTH = /claude-(?:[a-z]+-)?[123](?!\d)/;

function checkSampling({ model, temperature, top_p: topP, stop_sequences: stops }: JsonObject): void {
  if (typeof temperature === "number" && !(temperature >= 0 && temperature <= 1)) {
    throw invalidRequest("temperature", "range: 0..1");
  }
  if (typeof topP === "number" && !(topP >= 0 && topP <= 1)) throw invalidRequest("top_p", "range: 0..1");
  if (!isAbsent(temperature) && !isAbsent(topP) && !TAKES_BOTH.test(String(model))) {
    throw invalidRequest("", "`temperature` and `top_p` cannot both be specified for this model. Please use only one.");
  }
  if (listOf(stops).some((sequence) => typeof sequence !== "string" || sequence.trim() === "")) {
    throw invalidRequest("stop_sequences", "each stop sequence must contain non-whitespace");
  }
}

function checkSystem(system: unknown): void {
  if (isAbsent(system) || typeof system === "string") return;
  if (!Array.isArray(system)) throw invalidRequest("system", "Input should be a valid string or a valid list");
  objectsOf(system).forEach(({ type, text }, index) => {
    if (type !== "text") throw invalidRequest(`system.${index}.type`, "Input should be 'text'");
    if (text === "") throw invalidRequest("system", "text content blocks must be non-empty");
  });
}

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

function checkTools(body: JsonObject): void {
  const names = new Set<unknown>();
  objectsOf(body.tools).forEach((tool, index) => {
    if (!isAbsent(tool.type) && tool.type !== "custom") {
      if (String(tool.type).startsWith("web_search_")) checkSearchTool(tool, `tools.${index}.${tool.type}`);
      if (!isAbsent(tool.name)) names.add(tool.name);
      return; // a tool of the vendor itself
    }
    const path = `tools.${index}.custom`;
    checkToolFields(tool, path);
    if (isAbsent(tool.name)) throw invalidRequest(`${path}.name`, "Field required");
    if (!NAME.test(String(tool.name))) {
      throw invalidRequest(`${path}.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
    }
    checkInputSchema(tool.input_schema, `${path}.input_schema`);
    if (names.has(tool.name)) throw invalidRequest("tools", "Tool names must be unique.");
    names.add(tool.name);
  });
  const { tool_choice: choice } = body;
  if (!isObject(choice)) return;
  if (listOf(body.tools).length === 0) {
    throw invalidRequest("tool_choice", "may only be specified while providing `tools`");
  }
  if (choice.type === "tool" && names.size > 0 && !names.has(choice.name)) {
    throw invalidRequest("", `Tool '${choice.name}' not found in provided tools`);
  }
}

function checkInputSchema(schema: unknown, path: string): void {
  if (!isObject(schema)) throw invalidRequest(path, "Field required");
  if (isAbsent(schema.type)) throw invalidRequest(`${path}.type`, "Field required");
  if (schema.type !== "object") throw invalidRequest(`${path}.type`, "Input should be 'object'");
  if ("oneOf" in schema || "allOf" in schema || "anyOf" in schema) {
    throw invalidRequest(path, "input_schema does not support oneOf, allOf, or anyOf at the top level");
  }
  const fault = anthropicToolFault(schema);
  if (fault?.startsWith("Property keys")) throw invalidRequest(`${path}.properties`, fault);
  if (fault !== null) throw invalidRequest(path, fault);
}

/** Source: Messages API reference, "Extended thinking": the parameters that a budget excludes. */
function checkThinking(body: JsonObject): void {
  const { thinking, max_tokens: most, tool_choice: choice } = body;
  if (!isObject(thinking)) return;
  const tags = ["enabled", "adaptive", "between_tools", "disabled"];
  if (!tags.includes(String(thinking.type))) {
    throw invalidRequest(
      "thinking",
      `Input tag '${thinking.type}' found using 'type' does not match any of the expected tags`,
    );
  }
  if (thinking.type !== "enabled") return;
  const budget = thinking.budget_tokens;
  if (typeof budget !== "number") throw invalidRequest("thinking.enabled.budget_tokens", "Field required");
  if (budget < 1024) {
    throw invalidRequest("thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024");
  }
  if (typeof most === "number" && budget >= most) {
    throw invalidRequest("", "`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if (!isAbsent(body.temperature) && body.temperature !== 1) {
    throw invalidRequest("", "`temperature` may only be set to 1 when thinking is enabled.");
  }
  if (!isAbsent(body.top_k)) throw invalidRequest("", "`top_k` must be unset when thinking is enabled.");
  if (isObject(choice) && (choice.type === "any" || choice.type === "tool")) {
    throw invalidRequest("", "Thinking may not be enabled when tool_choice forces tool use.");
  }
}

/** Source: Messages API reference, "Structured outputs": objects are closed. */
function checkFormat(config: unknown): void {
  const format = isObject(config) && isObject(config.format) ? config.format : null;
  if (format === null) return;
  if (format.type !== "json_schema" || !isObject(format.schema)) {
    throw invalidRequest("output_config.format.schema", "Field required");
  }
  if (isOpen(format.schema)) {
    throw invalidRequest(
      "output_config.format.schema",
      "For 'object' type, 'additionalProperties' must be explicitly set to false",
    );
  }
}

function isOpen(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (schema.type === "object" && schema.additionalProperties !== false) return true;
  const groups = [schema.properties, schema.$defs, schema.definitions].filter(isObject);
  return [...groups.flatMap((group) => Object.values(group)), ...listOf(schema.anyOf), schema.items].some(isOpen);
}
