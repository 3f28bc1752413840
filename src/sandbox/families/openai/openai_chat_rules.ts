import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, listOf, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { isReasoner } from "./openai_chat.ts";
import { checkChatMessages } from "./openai_chat_message_rules.ts";
import { checkCacheMarks, checkChatModel } from "./openai_model_rules.ts";
import {
  badParameter,
  checkLength,
  checkName,
  checkParameters,
  checkPresent,
  checkRange,
  checkReplySchema,
} from "./openai_fields.ts";

/** Source: Chat Completions reference, "Create chat completion", request body. */
const FIELDS = new Set(
  ("messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens " +
    "max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key " +
    "prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier " +
    "stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity " +
    "web_search_options").split(" "),
);
/** Fields of vendors that imitate OpenAI and show reasoning. */
const REASONER_FIELDS = new Set(["thinking", "reasoning", "enable_thinking", "top_k"]);

/**
 * Rejects a chat completion that the vendor rejects, with the vendor's message. Source: Chat Completions reference; the
 * vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkChat(body: JsonObject): void {
  if (typeof body.model !== "string" || body.model === "") {
    throw new SimulatedError(400, "you must provide a model parameter");
  }
  const isDialect = isReasoner(body.model);
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name) && !(isDialect && REASONER_FIELDS.has(name)));
  if (unknown !== undefined) throw new SimulatedError(400, `Unrecognized request argument supplied: ${unknown}`);
  checkPresent(body, "messages");
  if (!isDialect) checkMembers(body.messages);
  if (!isDialect) checkCacheMarks(body, "messages");
  checkChatMessages(body.messages);
  checkSettings(body);
  checkChatModel(body, body.model);
  checkTools(body);
  checkFormat(body);
}

/** Fields in which other vendors return reasoning. Source: the vendor's error messages. */
const REASONING_FIELDS = ["reasoning", "reasoning_content", "reasoning_details", "extra_content"];

function checkMembers(messages: unknown): void {
  objectsOf(messages).forEach((message, index) => {
    const places = [
      { owner: message, path: `messages[${index}]` },
      ...objectsOf(message.tool_calls).map((owner, at) => ({ owner, path: `messages[${index}].tool_calls[${at}]` })),
    ];
    for (const { owner, path } of places) {
      const name = REASONING_FIELDS.find((each) => owner[each] !== undefined);
      if (name === undefined) continue;
      throw badParameter(`${path}.${name}`, `Unknown parameter: '${path}.${name}'.`, "unknown_parameter");
    }
  });
}

function checkSettings(body: JsonObject): void {
  if (!isAbsent(body.web_search_options) && !/search/.test(String(body.model))) {
    const message = "Web search options not supported with this model.";
    throw badParameter("web_search_options", message, "invalid_parameter");
  }
  checkRange(body, "temperature", 0, 2);
  checkRange(body, "top_p", 0, 1);
  checkRange(body, "presence_penalty", -2, 2);
  checkRange(body, "frequency_penalty", -2, 2);
  checkRange(body, "top_logprobs", 0, 20);
  checkRange(body, "n", 1, 128);
  checkRange(body, "max_tokens", 1, Infinity);
  checkRange(body, "max_completion_tokens", 1, Infinity);
  if (!isAbsent(body.max_tokens) && !isAbsent(body.max_completion_tokens)) {
    throw new SimulatedError(
      400,
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    );
  }
  if (Array.isArray(body.stop) && body.stop.length > 4) {
    const message = `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with ` +
      `length ${body.stop.length} instead.`;
    throw badParameter("stop", message, "array_above_max_length");
  }
  if (!isAbsent(body.stream_options) && body.stream !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    throw badParameter("stream_options", message);
  }
  checkLength(body.prompt_cache_key, "prompt_cache_key", 64);
  checkLength(body.safety_identifier, "safety_identifier", 64);
}

function checkTools(body: JsonObject): void {
  const tools = listOf(body.tools);
  if (Array.isArray(body.tools) && tools.length === 0) {
    const message = "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array " +
      "instead.";
    throw badParameter("tools", message, "empty_array");
  }
  tools.forEach((tool, index) => {
    const kind = isObject(tool) && tool.type === "custom" ? "custom" : "function";
    const definition = isObject(tool) && isObject(tool[kind]) ? tool[kind] : {};
    checkName(definition.name, `tools[${index}].${kind}.name`);
    const param = `tools[${index}].function.parameters`;
    checkParameters(definition.parameters, definition.name, param, definition.strict === true);
  });
  for (const name of ["tool_choice", "parallel_tool_calls"]) {
    if (tools.length > 0 || isAbsent(body[name]) || (name === "tool_choice" && body[name] === "none")) continue;
    throw badParameter(name, `'${name}' is only allowed when 'tools' are specified.`);
  }
}

function checkFormat(body: JsonObject): void {
  const format = isObject(body.response_format) ? body.response_format : {};
  if (format.type === "json_schema") {
    const named = isObject(format.json_schema) ? format.json_schema : {};
    checkName(named.name, "response_format.json_schema.name");
    checkReplySchema(named.schema, named.name, "response_format", named.strict === true);
  }
  if (format.type !== "json_object" || objectsOf(body.messages).some((message) => /json/i.test(textIn(message)))) {
    return;
  }
  const message =
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  throw badParameter("messages", message);
}

function textIn({ content }: JsonObject): string {
  return typeof content === "string" ? content : objectsOf(content).map(({ text }) => String(text ?? "")).join("\n");
}
