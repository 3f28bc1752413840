import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import {
  badParameter,
  checkChoice,
  checkLength,
  checkName,
  checkParameters,
  checkPresent,
  checkRange,
  checkReplySchema,
} from "./openai_fields.ts";
import { checkItems } from "./openai_item_rules.ts";
import { checkCacheMarks, checkResponsesModel, choosableTools } from "./openai_model_rules.ts";

/** Source: Responses API reference, "Create a model response", request body. */
const FIELDS = new Set(
  ("access_programs background background_options client_metadata context_management conversation image include " +
    "input instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key " +
    "prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options " +
    "temperature text tool_choice tools top_logprobs top_p truncation user").split(" "),
);
/** Source: Responses API reference, "Get input token counts", request body. */
const COUNT_FIELDS = new Set(
  ("conversation input instructions model parallel_tool_calls personality previous_response_id reasoning text " +
    "tool_choice tools truncation").split(" "),
);
const INCLUDES = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
];
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const MIN_OUTPUT_TOKENS = 16;

/**
 * Rejects a response request that the vendor rejects, with the vendor's message. Ids that the sandbox stored are
 * resolved before. Source: Responses API reference; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkResponses(body: JsonObject): void {
  checkKnown(body, FIELDS);
  checkPresent(body, "model");
  checkPrevious(body);
  checkPresent(body, "input");
  checkRange(body, "temperature", 0, 2);
  checkRange(body, "top_p", 0, 1);
  checkRange(body, "top_logprobs", 0, 20);
  checkRange(body, "max_output_tokens", MIN_OUTPUT_TOKENS, Infinity);
  checkLength(body.prompt_cache_key, "prompt_cache_key", 64);
  checkLength(body.safety_identifier, "safety_identifier", 64);
  checkResponsesModel(body);
  checkCacheMarks(body, "input");
  listOf(body.include).forEach((name, index) => checkChoice(name, `include[${index}]`, INCLUDES));
  checkContents(body);
}

/** Does the same for a request that only counts its tokens. Throws the same errors. */
export function checkResponsesCount(body: JsonObject): void {
  checkKnown(body, COUNT_FIELDS);
  checkPresent(body, "model");
  checkPrevious(body);
  checkPresent(body, "input");
  checkContents(body);
}

function checkContents(body: JsonObject): void {
  checkItems(body.input);
  checkReasoning(body);
  checkTools(body);
  checkFormat(body);
}

function checkKnown(body: JsonObject, known: ReadonlySet<string>): void {
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw badParameter(unknown, `Unknown parameter: '${unknown}'.`, "unknown_parameter");
  }
}

function checkPrevious({ previous_response_id: id }: JsonObject): void {
  if (isAbsent(id)) return;
  const message = `Previous response with id '${id}' not found.`;
  throw badParameter("previous_response_id", message, "previous_response_not_found");
}

function checkReasoning({ reasoning }: JsonObject): void {
  if (!isObject(reasoning)) return;
  if (!isAbsent(reasoning.effort)) checkChoice(reasoning.effort, "reasoning.effort", EFFORTS);
  if (!isAbsent(reasoning.summary)) {
    checkChoice(reasoning.summary, "reasoning.summary", ["concise", "detailed", "auto"]);
  }
}

function checkTools(body: JsonObject): void {
  listOf(body.tools).forEach((tool, index) => {
    if (!isObject(tool) || isAbsent(tool.type)) {
      const message = `Missing required parameter: 'tools[${index}].type'.`;
      throw badParameter(`tools[${index}].type`, message, "missing_required_parameter");
    }
    if (SEARCHES.includes(String(tool.type))) checkSearch(tool, `tools[${index}]`);
    if (tool.type !== "function" && tool.type !== "custom") return;
    // This rejects the nested shape of chat completions, which has no name at the top level.
    checkName(tool.name, `tools[${index}].name`);
    checkParameters(tool.parameters, tool.name, `tools[${index}].parameters`, tool.strict === true);
  });
  const { tool_choice: choice } = body;
  const isSearch = isObject(choice) && SEARCHES.includes(String(choice.type));
  if (isSearch && !listOf(body.tools).some((tool) => isObject(tool) && SEARCHES.includes(String(tool.type)))) {
    throw badParameter("tool_choice", `Tool choice '${choice.type}' not found in 'tools' parameter.`);
  }
  if (isObject(choice) && (choice.type === "function" || choice.type === "custom")) {
    if (choosableTools(body).has(String(choice.name))) return;
    throw badParameter("tool_choice", `Tool choice '${choice.name}' not found in 'tools' parameter.`);
  }
  if (listOf(body.tools).length > 0 || isAbsent(choice) || choice === "none" || choice === "auto") return;
  throw badParameter("tool_choice", "Tool choices other than 'auto' and 'none' are only allowed with 'tools'.");
}

const SEARCHES = ["web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"];

/** Source: Responses API reference, "Web search" and "Web search preview". */
const SEARCH_FIELDS = ["type", "filters", "search_context_size", "user_location", "external_web_access"];

function checkSearch(tool: JsonObject, path: string): void {
  const known = String(tool.type).includes("preview") ? [...SEARCH_FIELDS, "search_content_types"] : SEARCH_FIELDS;
  const unknown = Object.keys(tool).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw badParameter(`${path}.${unknown}`, `Unknown parameter: '${path}.${unknown}'.`, "unknown_parameter");
  }
  const filters = isObject(tool.filters) ? tool.filters : {};
  const filter = Object.keys(filters).find((name) => name !== "allowed_domains");
  if (filter === undefined) return;
  throw badParameter(
    `${path}.filters.${filter}`,
    `Unknown parameter: '${path}.filters.${filter}'.`,
    "unknown_parameter",
  );
}

function checkFormat(body: JsonObject): void {
  const text = isObject(body.text) ? body.text : {};
  const format = isObject(text.format) ? text.format : {};
  if (format.type === "json_schema") {
    checkName(format.name, "text.format.name");
    if (!isObject(format.schema)) {
      const message = "Missing required parameter: 'text.format.schema'.";
      throw badParameter("text.format.schema", message, "missing_required_parameter");
    }
    checkReplySchema(format.schema, format.name, "text.format.schema", format.strict === true);
  }
  // Instructions do not count, only the input.
  if (format.type !== "json_object" || /json/i.test(JSON.stringify(body.input))) return;
  throw new SimulatedError(
    400,
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    { param: "input" },
  );
}
