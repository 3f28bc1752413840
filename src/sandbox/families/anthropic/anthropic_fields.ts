import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { SimulatedError } from "../../simulated_error.ts";

/** Creates Anthropic's 400 error: the path, then the fault. */
export function invalidRequest(path: string, message: string): SimulatedError {
  return new SimulatedError(400, path === "" ? message : `${path}: ${message}`);
}

/** Source: Messages API reference, "Create a Message", body; its beta fields. */
const MESSAGE_FIELDS = fieldsOf(
  "model messages max_tokens cache_control container context_management diagnostics fallbacks inference_geo mcp_servers " +
    "metadata output_config output_format service_tier speed stop_sequences stream system temperature thinking " +
    "thread tool_choice tools top_k top_p",
);
/** Source: Messages API reference, "Count tokens in a Message", body; its beta fields. */
const COUNT_FIELDS = fieldsOf(
  "model messages cache_control context_management mcp_servers output_config output_format speed system thinking " +
    "tool_choice tools",
);

/** The fields of each kind of block that callers write. Source: Messages API reference, "ContentBlockParam". */
const BLOCK_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: fieldsOf("type text cache_control citations"),
  image: fieldsOf("type source cache_control transformations"),
  document: fieldsOf("type source cache_control citations context title"),
  search_result: fieldsOf("type content source title cache_control citations"),
  thinking: fieldsOf("type thinking signature"),
  redacted_thinking: fieldsOf("type data"),
  tool_use: fieldsOf("type id input name cache_control caller toolset_name"),
  tool_result: fieldsOf("type tool_use_id cache_control content is_error toolset_name"),
  tool_reference: fieldsOf("type tool_name cache_control"),
};
const TOOL_FIELDS = fieldsOf(
  "type name description input_schema allowed_callers cache_control defer_loading eager_input_streaming input_examples " +
    "strict",
);
/** Blocks of the vendor's own tools. They are sent back unchanged and not validated. */
const OWN_BLOCKS = /^(server_tool_use|\w+_tool_result|mcp_tool_use|container_upload|compaction|fallback)$/;

function fieldsOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

/**
 * @param counts Whether the request only counts tokens.
 * @throws {SimulatedError} For an unknown field.
 */
export function checkTopFields(body: JsonObject, counts: boolean): void {
  rejectUnknownFields(body, counts ? COUNT_FIELDS : MESSAGE_FIELDS, "");
}

/** @throws {SimulatedError} For an unknown kind of block or an unknown field of one. */
export function checkBlockFields(block: JsonObject, path: string): void {
  const type = String(block.type);
  const fields = ownValue(BLOCK_FIELDS, type);
  if (fields !== undefined) return rejectUnknownFields(block, fields, `${path}.${type}`);
  if (OWN_BLOCKS.test(type)) return;
  const tags = Object.keys(BLOCK_FIELDS).map((tag) => `'${tag}'`).join(", ");
  throw invalidRequest(path, `Input tag '${type}' found using 'type' does not match any of the expected tags: ${tags}`);
}

/** @throws {SimulatedError} For an unknown field of a caller's tool. */
export function checkToolFields(tool: JsonObject, path: string): void {
  rejectUnknownFields(tool, TOOL_FIELDS, path);
}

/** Source: Messages API reference, "Web search tool". */
const SEARCH_FIELDS = fieldsOf(
  "type name allowed_callers allowed_domains blocked_domains cache_control defer_loading max_uses response_inclusion strict " +
    "user_location",
);

/** @throws {SimulatedError} For a search that the vendor does not offer in this way. */
export function checkSearchTool(tool: JsonObject, path: string): void {
  rejectUnknownFields(tool, SEARCH_FIELDS, path);
  if (tool.name !== "web_search") throw invalidRequest(`${path}.name`, "Input should be 'web_search'");
  const { max_uses: most, allowed_domains: allowed, blocked_domains: blocked } = tool;
  if (typeof most === "number" && most < 1) throw invalidRequest(`${path}.max_uses`, "Input should be greater than 0");
  if (Array.isArray(allowed) && Array.isArray(blocked)) {
    throw invalidRequest(path, "Cannot specify both `allowed_domains` and `blocked_domains`.");
  }
}

function rejectUnknownFields(object: JsonObject, known: ReadonlySet<string>, path: string): void {
  const unknown = Object.keys(object).find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw invalidRequest(path === "" ? unknown : `${path}.${unknown}`, "Extra inputs are not permitted");
  }
}
