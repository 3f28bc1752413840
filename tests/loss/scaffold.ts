import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { isObject, objectsOf } from "../../src/conversation/neutral/wire_value.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { itemAt } from "../support/items.ts";
import type { Step } from "./probes.ts";
import { elementsBefore } from "./sample_values.ts";

/** A request with everything that a parameter requires: the call of a result, the tools of a choice. */
export function scaffolded(format: CallerFormatName, body: JsonObject, steps: readonly Step[]): JsonObject {
  const built = BUILDERS[format](structuredClone(body), steps);
  return format === "content" ? { model: "acme/m", stream: false, ...built } : built;
}

const BUILDERS: Readonly<Record<CallerFormatName, (body: JsonObject, steps: readonly Step[]) => JsonObject>> = {
  chat(body, steps) {
    const { key } = itemAt(steps, 0);
    if (holdsKind(steps, "tool")) after(body.messages, CHAT_CALL);
    if (["tool_choice", "parallel_tool_calls"].includes(key)) body.tools = chatTools(body.tool_choice);
    for (const message of objectsOf(body.messages)) if (isEmptyReply(message)) message.content = "Sure";
    if (key === "function_call") body.functions = [{ name: "look" }];
    if (key === "stream_options") body.stream = true;
    if (key === "top_logprobs") body.logprobs = true;
    return body;
  },
  responses(body, steps) {
    const { key } = itemAt(steps, 0);
    body.model ??= "acme/m";
    body.input ??= [...elementsBefore("responses", "input")];
    const isCustom = holdsKind(steps, "custom_tool_call_output");
    if (isCustom || holdsKind(steps, "function_call_output")) after(body.input, isCustom ? CUSTOM_CALL : CALL);
    if (["tool_choice", "parallel_tool_calls"].includes(key)) body.tools = responsesTools(body.tool_choice);
    if (key === "stream_options") body.stream = true;
    return body;
  },
  messages(body, steps) {
    const { key } = itemAt(steps, 0);
    if (holdsKind(steps, "tool_result")) {
      after(body.messages, { role: "assistant", content: [MESSAGES_CALL] });
      // Results in messages other than the first.
      for (const message of objectsOf(body.messages).slice(2)) moveResultsFirst(message);
    }
    if (key === "tool_choice") {
      body.tools = [...elementsBefore("messages", "tools"), { name: "look", input_schema: { type: "object" } }];
    }
    if (key === "thinking" || key === "output_config") body.max_tokens = 8000;
    return body;
  },
  content(body, steps) {
    const { key } = itemAt(steps, 0);
    if (steps.some((step) => step.key === "functionResponse")) {
      after(body.contents, { role: "model", parts: [{ functionCall: { name: "look", id: "call_1", args: {} } }] });
    }
    if (key === "toolConfig") {
      const look = { name: "look" };
      body.tools = [{ functionDeclarations: [...elementsBefore("content", "functionDeclarations"), look] }];
    }
    return body;
  },
};

const CHAT_CALL = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }],
};
const CALL = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
const CUSTOM_CALL = { type: "custom_tool_call", call_id: "call_1", name: "look", input: "here" };
const MESSAGES_CALL = { type: "tool_use", id: "call_1", name: "look", input: {} };

function chatTools(choice: unknown): readonly JsonObject[] {
  const isCustom = isObject(choice) && choice.type === "custom";
  const look = isCustom
    ? { type: "custom", custom: { name: "look" } }
    : { type: "function", function: { name: "look" } };
  return [...elementsBefore("chat", "tools"), look];
}

function responsesTools(choice: unknown): readonly JsonObject[] {
  const isCustom = isObject(choice) && choice.type === "custom";
  return [...elementsBefore("responses", "tools"), { type: isCustom ? "custom" : "function", name: "look" }];
}

function isEmptyReply({ role, content, tool_calls: calls, ...others }: JsonObject): boolean {
  const saysOther = ["function_call", "refusal", "audio"].some((name) => name in others);
  return role === "assistant" && content === undefined && calls === undefined && !saysOther;
}

function holdsKind(steps: readonly Step[], kind: string): boolean {
  return steps.some(({ kinds }) => kinds.includes(kind));
}

function after(list: unknown, element: JsonObject): void {
  if (Array.isArray(list)) list.splice(1, 0, element);
}

function moveResultsFirst(message: JsonObject): void {
  const blocks = objectsOf(message.content);
  if (blocks.length === 0) return;
  message.content = [
    ...blocks.filter(({ type }) => type === "tool_result"),
    ...blocks.filter(({ type }) => type !== "tool_result"),
  ];
}
