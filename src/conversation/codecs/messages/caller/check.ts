import { GatewayError, invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { checkTurns } from "./check_turns.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { kindOf } from "../shared/fields.ts";

/**
 * Checks the rules that every vendor of this format enforces. Written by hand, with paths built only for errors,
 * because it runs on every request.
 * Source: docs/api/messages.md#request; Messages API reference.
 *
 * @param generates False for a request that only counts tokens, which needs no `max_tokens`.
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkRequest(body: JsonObject, generates: boolean = true): void {
  if (!isObject(body)) {
    throw new GatewayError("invalid_request", `Cannot read the body: expected a JSON object, got ${kindOf(body)}`);
  }
  if (typeof body.model !== "string" || body.model === "") {
    throw invalidField(
      "model",
      `expected the id of a model, got ${body.model === "" ? "nothing" : kindOf(body.model)}`,
    );
  }
  if (generates) checkMaxTokens(body);
  checkNumber(body, "temperature", 1);
  checkNumber(body, "top_p", 1);
  checkNumber(body, "top_k", Number.MAX_VALUE);
  checkSettings(body);
  checkSystem(body.system);
  const continuesThread = checkThread(body.thread);
  checkTurns(body.messages, continuesThread);
  checkTools(body.tools);
  // The vendor stores the tools of a continued thread.
  if (!continuesThread) checkToolChoice(body);
}

/** True when the request continues a conversation stored by the vendor, and so contains only new messages. */
function checkThread(thread: unknown): boolean {
  if (thread === undefined || thread === null) return false;
  if (!isObject(thread)) throw invalidField("thread", `expected an object, got ${kindOf(thread)}`);
  if (typeof thread.type !== "string") {
    throw invalidField("thread.type", `expected "create" or "continue", got ${kindOf(thread.type)}`);
  }
  if (thread.type !== "continue") return false;
  const id = thread.previous_message_id;
  if (typeof id === "string" && id !== "") return true;
  throw invalidField("thread.previous_message_id", `expected the id of the previous reply, got ${kindOf(id)}`);
}

/**
 * 0 fills the vendor's cache and generates nothing. Source: Messages API reference, `max_tokens`. Without a mark in the
 * request there is nothing to fill, so 0 is a mistake.
 */
function checkMaxTokens(body: JsonObject): void {
  const value = body.max_tokens;
  if (typeof value === "number" && Number.isInteger(value) && (value >= 1 || (value === 0 && hasCacheMark(body)))) {
    return;
  }
  const got = typeof value === "number" && Number.isFinite(value) ? value : kindOf(value);
  throw invalidField("max_tokens", `expected an integer of at least 1, or 0 with cache_control, got ${got}`);
}

/** Whether a value has a mark at any depth. The depth of a body is limited. */
function hasCacheMark(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasCacheMark);
  if (!isObject(value)) return false;
  return isObject(value.cache_control) || Object.values(value).some(hasCacheMark);
}

function checkNumber(body: JsonObject, field: string, max: number): void {
  const value = body[field];
  if (value === undefined || value === null) return;
  if (typeof value === "number" && value >= 0 && value <= max) return;
  const range = max === 1 ? "0 to 1" : "0 or more";
  const got = typeof value === "number" && Number.isFinite(value) ? value : kindOf(value);
  throw invalidField(field, `expected a number (${range}), got ${got}`);
}

const OBJECT_SETTINGS = ["metadata", "thinking", "output_config", "output_format", "cache_control"] as const;

function checkSettings(body: JsonObject): void {
  if (body.stream !== undefined && body.stream !== null && typeof body.stream !== "boolean") {
    throw invalidField("stream", `expected true or false, got ${kindOf(body.stream)}`);
  }
  for (const field of OBJECT_SETTINGS) {
    const value = body[field];
    if (value !== undefined && value !== null && !isObject(value)) {
      throw invalidField(field, `expected an object, got ${kindOf(value)}`);
    }
  }
  checkStopSequences(body.stop_sequences);
  if (isObject(body.thinking)) checkThinking(body.thinking);
}

function checkStopSequences(value: unknown): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) throw invalidField("stop_sequences", `expected an array of strings, got ${kindOf(value)}`);
  value.forEach((sequence, index) => {
    if (typeof sequence !== "string") {
      throw invalidField(`stop_sequences[${index}]`, `expected a string, got ${kindOf(sequence)}`);
    }
  });
}

function checkThinking(thinking: JsonObject): void {
  if (typeof thinking.type !== "string") {
    throw invalidField("thinking.type", `expected "enabled", "adaptive" or "disabled", got ${kindOf(thinking.type)}`);
  }
  if (thinking.type === "enabled" && !Number.isInteger(thinking.budget_tokens)) {
    throw invalidField("thinking.budget_tokens", `expected an integer, got ${kindOf(thinking.budget_tokens)}`);
  }
}

function checkSystem(value: unknown): void {
  if (value === undefined || value === null || typeof value === "string") return;
  if (!Array.isArray(value)) {
    throw invalidField("system", `expected a string or an array of text blocks, got ${kindOf(value)}`);
  }
  value.forEach((block, index) => {
    if (!isObject(block)) throw invalidField(`system[${index}]`, `expected a block, got ${kindOf(block)}`);
    if (block.type === "text" && typeof block.text !== "string") {
      throw invalidField(`system[${index}].text`, `expected a string, got ${kindOf(block.text)}`);
    }
  });
}

function checkTools(value: unknown): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) throw invalidField("tools", `expected an array of tools, got ${kindOf(value)}`);
  for (let index = 0; index < value.length; index++) {
    const tool = value[index];
    if (!isObject(tool)) throw invalidField(`tools[${index}]`, `expected a tool, got ${kindOf(tool)}`);
    if (!isOwnTool(tool)) continue;
    if (typeof tool.name !== "string" || tool.name === "") {
      throw invalidField(`tools[${index}].name`, `expected the name of the tool, got ${kindOf(tool.name)}`);
    }
    if (tool.input_schema !== undefined && tool.input_schema !== null && !isObject(tool.input_schema)) {
      throw invalidField(`tools[${index}].input_schema`, `expected a JSON Schema, got ${kindOf(tool.input_schema)}`);
    }
  }
}

/** True for a tool that the caller defines and runs; all others have a type defined by the vendor. */
export function isOwnTool(tool: JsonObject): boolean {
  return tool.type === undefined || tool.type === null || tool.type === "custom";
}

function checkToolChoice(body: JsonObject): void {
  const choice = body.tool_choice;
  if (choice === undefined || choice === null) return;
  if (!isObject(choice)) throw invalidField("tool_choice", `expected an object, got ${kindOf(choice)}`);
  if (typeof choice.type !== "string") {
    throw invalidField("tool_choice.type", `expected "auto", "any", "tool" or "none", got ${kindOf(choice.type)}`);
  }
  if (choice.type !== "tool") return;
  if (typeof choice.name !== "string") {
    throw invalidField("tool_choice.name", `expected the name of a tool, got ${kindOf(choice.name)}`);
  }
  const tools: readonly JsonObject[] = Array.isArray(body.tools) ? body.tools : [];
  // A set of tools, such as an MCP server, adds names that are not in the request.
  const hasToolSets = (Array.isArray(body.mcp_servers) && body.mcp_servers.length > 0) ||
    tools.some((tool) => typeof tool.name !== "string");
  if (!hasToolSets && !tools.some((tool) => tool.name === choice.name)) {
    throw invalidField("tool_choice.name", "expected the name of one of the tools of this request");
  }
}
