import { isAbsent, isObject, listOf, objectOf, objectsOf } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { SimulatedError } from "../simulated_error.ts";
import { badParameter } from "./openai/openai_fields.ts";

/** What one vendor with OpenAI's chat format refuses of a model. Throws the vendor's answer. */
export type ChatVendorRules = (body: JsonObject, model: string) => void;

/** The effort of a request; `none` also where `thinking` switches reasoning off. Null if none is named. */
export function effortIn(body: JsonObject): string | null {
  if (objectOf(body.thinking)?.type === "disabled") return "none";
  return isAbsent(body.reasoning_effort) ? null : String(body.reasoning_effort);
}

function isForced(choice: unknown): boolean {
  return choice === "required" || isObject(choice);
}

/**
 * Refuses OpenAI's custom tools, which no other vendor has. Source: the vendors' API references, `tools[].type`:
 * `function` is the only type.
 */
export function checkFunctionsOnly(body: JsonObject): void {
  const tools = objectsOf(body.tools).map(({ type }, index) => ({ type, param: `tools[${index}].type` }));
  const calls = objectsOf(body.messages).flatMap((message, index) =>
    objectsOf(message.tool_calls).map(({ type }) => ({ type, param: `messages[${index}].tool_calls` }))
  );
  const choice = isObject(body.tool_choice) ? [{ type: body.tool_choice.type, param: "tool_choice" }] : [];
  const other = [...tools, ...calls, ...choice].find(({ type }) => !isAbsent(type) && type !== "function");
  if (other === undefined) return;
  throw badParameter(other.param, `${other.param}: unknown variant \`${other.type}\`, expected \`function\``);
}

/** Source: DeepSeek API documentation, "Thinking Mode", "JSON Output"; the vendor's error messages. */
export function checkDeepseek(body: JsonObject): void {
  if (objectOf(body.response_format)?.type === "json_schema") {
    throw invalid("This response_format type is unavailable now");
  }
  if (effortIn(body) === "none") return;
  if (isForced(body.tool_choice)) throw invalid("Thinking mode does not support this tool_choice");
  const isWithout = objectsOf(body.messages).some((message) =>
    message.role === "assistant" && listOf(message.tool_calls).length > 0 &&
    typeof message.reasoning_content !== "string"
  );
  if (isWithout) throw invalid("The `reasoning_content` in the thinking mode must be passed back to the API.");
}

function invalid(message: string): SimulatedError {
  return new SimulatedError(400, message, { code: "invalid_request_error" });
}

/** Source: pydantic/pydantic-ai#6208, and its profile of Moonshot's models. */
export function checkMoonshot(body: JsonObject, model: string): void {
  if (body.reasoning_effort === "none") throw badParameter("reasoning_effort", "invalid reasoning_effort: none");
  if (body.tool_choice === "required") {
    throw badParameter("tool_choice", "tool_choice 'required' is not supported for this model");
  }
  const fixed = /^kimi-k/.test(model) && !isAbsent(body.temperature) && body.temperature !== 1;
  if (fixed) throw badParameter("temperature", "invalid temperature: only 1 is allowed for this model");
}

const GLM_EFFORTS = ["low", "high", "max"];

/** Source: pydantic/pydantic-ai, profile of Z.ai's models: glm-5.3 always thinks. */
export function checkZai(body: JsonObject, model: string): void {
  if (!/^glm-5\.3/.test(model)) return;
  if (objectOf(body.thinking)?.type === "disabled") {
    throw invalid("thinking cannot be disabled for this model, please use low, high, or max for reasoning_effort");
  }
  const effort = effortIn(body);
  if (effort !== null && !GLM_EFFORTS.includes(effort)) {
    throw invalid(`reasoning_effort "${effort}" is not supported, please use low, high, or max`);
  }
}

/** Source: Groq documentation, "OpenAI Compatibility". */
const GROQ_REFUSED = ["logprobs", "top_logprobs", "logit_bias", "thinking", "reasoning", "usage", "prompt_cache_key"];
/** Source: groq 1.7.0 (Python), the types of messages. */
const GROQ_MESSAGES: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "reasoning", "tool_calls", "function_call"],
  tool: ["role", "content", "tool_call_id"],
  function: ["role", "content", "name"],
};
const GROQ_PARTS: Readonly<Record<string, readonly string[]>> = {
  text: ["type", "text"],
  image_url: ["type", "image_url"],
};

/** Source: the vendor's error messages (agentjido/req_llm#772, karthink/gptel#774). */
function checkGroqMessages(messages: readonly JsonObject[]): void {
  messages.forEach((message, index) => {
    const path = `messages.${index}`;
    const known = GROQ_MESSAGES[String(message.role)];
    if (known === undefined) throw invalid(`'${path}' : discriminator property 'role' has invalid value`);
    const other = Object.keys(message).find((name) => !known.includes(name));
    if (other !== undefined) throw unsupportedAtGroq(message, path, other);
    objectsOf(message.content).forEach((part, at) => {
      const ofPart = GROQ_PARTS[String(part.type)] ?? [];
      const inPart = Object.keys(part).find((name) => !ofPart.includes(name));
      if (inPart !== undefined) throw unsupportedAtGroq(message, `${path}.content.${at}`, inPart);
    });
  });
}

function unsupportedAtGroq({ role }: JsonObject, path: string, name: string): SimulatedError {
  const [list, index] = path.split(".");
  return invalid(
    `'${list}.${index}' : for 'role:${role}' the following must be satisfied[('${path}' : property '${name}' is ` +
      "unsupported)]",
  );
}

/** Source: Groq API reference, "reasoning_effort". */
export function checkGroq(body: JsonObject, model: string): void {
  const unknown = GROQ_REFUSED.find((name) => !isAbsent(body[name]));
  if (unknown !== undefined) throw invalid(`property '${unknown}' is unsupported`);
  checkGroqMessages(objectsOf(body.messages));
  const efforts = /gpt-oss/.test(model) ? ["low", "medium", "high"] : /qwen3/.test(model) ? ["none", "default"] : null;
  const { reasoning_effort: effort } = body;
  if (efforts === null || isAbsent(effort) || efforts.includes(String(effort))) return;
  const known = efforts.map((each) => `\`${each}\``).join(", ");
  throw badParameter("reasoning_effort", `\`reasoning_effort\` must be one of ${known}`);
}

/** Source: Mistral API reference, "Chat Completion", request body. */
const MISTRAL_FIELDS = new Set(
  ("model messages temperature top_p max_tokens stream stop random_seed response_format tools tool_choice " +
    "presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode safe_prompt guardrails metadata " +
    "reasoning_effort prompt_cache_key service_tier").split(" "),
);
const MISTRAL_MESSAGES: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls", "prefix"],
  tool: ["role", "content", "tool_call_id", "name"],
};
const MISTRAL_CALL_ID = /^[a-zA-Z0-9]{9}$/;

/** Source: Mistral API reference; the vendor's error messages. An unknown field is refused even if it is null. */
export function checkMistral(body: JsonObject): void {
  const extra = Object.keys(body).find((name) => !MISTRAL_FIELDS.has(name));
  if (extra !== undefined) throw new SimulatedError(422, "Extra inputs are not permitted", { param: extra });
  objectsOf(body.messages).forEach((message, index) => {
    checkMistralMessage(message, `messages.${index}.${message.role}`);
    checkNotEmpty(message, "Assistant message must have either content or tool_calls, but not none.");
    for (const id of [message.tool_call_id, ...objectsOf(message.tool_calls).map((call) => call.id)]) {
      if (isAbsent(id) || MISTRAL_CALL_ID.test(String(id))) continue;
      throw invalid(`Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`);
    }
  });
}

function checkMistralMessage(message: JsonObject, path: string): void {
  const known = MISTRAL_MESSAGES[String(message.role)];
  if (known === undefined) {
    throw new SimulatedError(422, "Input tag does not match any of the expected tags", { param: path });
  }
  const parts = objectsOf(message.content);
  const extra = otherMember(message, known, path) ??
    parts.map((part) => part.type === "text" ? otherMember(part, ["type", "text"], `${path}.content.text`) : null)
      .find((each) => each !== null) ??
    objectsOf(message.tool_calls).map((call) =>
      otherMember(call, ["id", "type", "function", "index"], `${path}.tool_calls`)
    ).find((each) => each !== null);
  if (extra) throw new SimulatedError(422, "Extra inputs are not permitted", { param: extra });
}

/** The path of the first member that is not known; null for none. */
function otherMember(object: JsonObject, known: readonly string[], path: string): string | null {
  const other = Object.keys(object).find((name) => !known.includes(name));
  return other === undefined ? null : `${path}.${other}`;
}

/** Source: Cohere, Compatibility API, "Unsupported parameters". */
const COHERE_REFUSED = "store metadata logit_bias top_logprobs n modalities prediction audio service_tier " +
  "parallel_tool_calls reasoning reasoning_content thinking usage random_seed max_completion_tokens verbosity " +
  "functions function_call";
const COHERE_MESSAGE = ["role", "content", "tool_calls", "tool_call_id"];

/** Source: Cohere, Compatibility API; the vendor's error messages; pydantic/pydantic-ai, model of Cohere. */
export function checkCohere(body: JsonObject): void {
  const refused = COHERE_REFUSED.split(" ").find((name) => !isAbsent(body[name]));
  if (refused !== undefined) throw unknownField(refused);
  const { reasoning_effort: effort } = body;
  if (!isAbsent(effort) && effort !== "none" && effort !== "high") {
    throw new SimulatedError(400, `invalid request: reasoning_effort '${effort}' is not supported`);
  }
  for (const message of objectsOf(body.messages)) {
    const other = Object.keys(message).find((name) => !COHERE_MESSAGE.includes(name) && !isAbsent(message[name]));
    const inCalls = objectsOf(message.tool_calls).flatMap((call) => Object.keys(call))
      .find((name) => !["id", "type", "function"].includes(name));
    const unknown = other ?? inCalls;
    if (unknown !== undefined) throw unknownField(unknown);
    checkNotEmpty(message, "invalid request: assistant message must have content or tool calls");
  }
}

function unknownField(name: string): SimulatedError {
  return new SimulatedError(400, `unknown field: parameter '${name}' is not a valid field`, { param: name });
}

function checkNotEmpty({ role, content, tool_calls: calls }: JsonObject, message: string): void {
  const isEmpty = isAbsent(content) || content === "" || (Array.isArray(content) && content.length === 0);
  if (role === "assistant" && isEmpty && listOf(calls).length === 0) throw invalid(message);
}

/** Source: Model Studio documentation, "Function Calling"; pydantic/pydantic-ai, profile of Qwen. */
export function checkAlibaba(body: JsonObject, model: string): void {
  const parts = objectsOf(body.messages).flatMap(({ content }) => objectsOf(content));
  if (parts.some(({ type }) => type === "file")) throw invalid("Invalid value: file. Supported: text, image_url");
  if (/^qwen-?3-coder/.test(model) && body.tool_choice === "required") {
    throw invalid("The tool_choice parameter does not support being set to required");
  }
}

/** A model of xAI that always reasons. */
const GROK = /^grok-(?:4\.[5-9]|[5-9])/;
const GROK_REFUSED: Readonly<Record<string, string>> = {
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  stop: "stop",
};

/** Source: xAI API reference, "Reasoning"; the vendor's error messages. */
export function checkXai(body: JsonObject, model: string): void {
  if (!GROK.test(model)) return;
  const effort = effortIn(body) ?? objectOf(body.reasoning)?.effort;
  if (effort === "none" || effort === "minimal" || effort === "max") {
    throw new SimulatedError(400, `Model ${model} does not support reasoning effort ${effort}.`);
  }
  const refused = Object.keys(GROK_REFUSED).find((name) => !isAbsent(body[name]) && body[name] !== 0);
  if (refused !== undefined) {
    throw new SimulatedError(400, `Argument not supported on this model: ${GROK_REFUSED[refused]}`);
  }
}
