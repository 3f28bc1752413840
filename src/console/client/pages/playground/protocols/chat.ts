import { type Call, type ChatSettings, type Media, type Message, ownFormOf, SCHEMA_NAME } from "../conversation.ts";
import { type JsonObject, numberIn, objectIn, objectsIn, textIn } from "../../../json.ts";
import { costIn, emptyReply, type ReplyReader } from "../reply.ts";
import { audioFormat, dataUrl, isImage } from "./media.ts";
import { chatSnippets } from "../snippets/chat_snippets.ts";
import type { Protocol } from "./protocol.ts";
import { readChat } from "./read_chat.ts";

/** Chat completions. Source: docs/api/chat-completions.md. */
export const chat: Protocol = {
  name: "chat",
  endpoint: "/v1/chat/completions",
  read: readChat,
  snippets: chatSnippets,
  write: (settings, messages) => ({
    protocol: "chat",
    model: settings.model,
    path: "/v1/chat/completions",
    body: writeBody(settings, messages),
  }),
  reader: chatReader,
};

function writeBody(settings: ChatSettings, messages: readonly Message[]): JsonObject {
  const { model, system, temperature, maxTokens, thinking, tools, schema } = settings;
  return {
    model,
    messages: [...system === "" ? [] : [{ role: "system", content: system }], ...messages.flatMap(writeMessage)],
    stream: true,
    stream_options: { include_usage: true },
    ...temperature !== null && { temperature },
    ...maxTokens !== null && { max_completion_tokens: maxTokens },
    ...thinking !== "default" && { reasoning_effort: thinking === "off" ? "none" : thinking },
    ...tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, ...description !== "" && { description }, parameters },
      })),
    },
    ...schema !== null && {
      response_format: { type: "json_schema", json_schema: { name: SCHEMA_NAME, schema, strict: true } },
    },
  };
}

function writeMessage(message: Message): unknown[] {
  if (message.role === "tool") {
    return message.results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }));
  }
  if (message.role === "user") {
    const { parts } = message;
    const [first] = parts;
    const content = parts.length === 1 && first?.kind === "text"
      ? first.text
      : parts.map((part) => part.kind === "text" ? { type: "text", text: part.text } : writeMedia(part));
    return [{ role: "user", content }];
  }
  return [ownFormOf(message, "chat") ?? writeAnswer(message.text, message.calls)];
}

function writeAnswer(text: string, calls: readonly Call[]): JsonObject {
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...calls.length > 0 && {
      tool_calls: calls.map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: input === "" ? "{}" : input },
      })),
    },
  };
}

function writeMedia(file: Media): JsonObject {
  if (isImage(file)) return { type: "image_url", image_url: { url: dataUrl(file) } };
  const format = audioFormat(file);
  if (format !== null) return { type: "input_audio", input_audio: { data: file.data, format } };
  return { type: "file", file: { filename: file.name, file_data: dataUrl(file) } };
}

function chatReader(): ReplyReader {
  const reply = emptyReply();
  const details: Record<string, unknown>[] = [];
  return {
    reply,
    take(data) {
      const chunk = objectIn(data);
      if (chunk.error !== undefined) reply.error = readError(chunk.error);
      if (chunk.usage) takeUsage(objectIn(chunk.usage));
      const [choice = {}] = objectsIn(chunk.choices);
      const delta = objectIn(choice.delta);
      reply.text += textIn(delta.content) + textIn(delta.refusal);
      reply.thinking += textIn(delta.reasoning_content) || textIn(delta.reasoning);
      for (const detail of objectsIn(delta.reasoning_details)) addDetail(details, detail);
      for (const call of objectsIn(delta.tool_calls)) addCall(call);
      if (typeof choice.finish_reason === "string") reply.stop = choice.finish_reason;
    },
    own: () => ({
      ...writeAnswer(reply.text, reply.calls),
      ...details.length > 0 && { reasoning_details: details },
    }),
  };

  function takeUsage(usage: JsonObject): void {
    reply.cost = costIn(usage.cost) ?? reply.cost;
    reply.usage = {
      input: numberIn(usage.prompt_tokens),
      output: numberIn(usage.completion_tokens),
      cached: numberIn(objectIn(usage.prompt_tokens_details).cached_tokens),
      reasoning: numberIn(objectIn(usage.completion_tokens_details).reasoning_tokens),
    };
  }

  /** The first piece of a call has its id and its name, the others pieces of its input. */
  function addCall(piece: JsonObject): void {
    const index = numberIn(piece.index);
    const { name, arguments: input } = objectIn(piece.function);
    const { id, name: known, input: before } = reply.calls[index] ?? { id: "", name: "", input: "" };
    reply.calls[index] = { id: id || textIn(piece.id), name: known || textIn(name), input: before + textIn(input) };
  }
}

/** Pieces of one entry have the same type and index. */
function addDetail(details: Record<string, unknown>[], piece: JsonObject): void {
  const last = details.at(-1);
  if (last === undefined || last.type !== piece.type || last.index !== piece.index) {
    details.push({ ...piece });
    return;
  }
  for (const [name, value] of Object.entries(piece)) {
    const isPiece = name === "text" || name === "summary" || name === "data";
    last[name] = isPiece ? textIn(last[name]) + textIn(value) : value ?? last[name];
  }
}

/** An error of the default protocol. */
export function readError(error: unknown): { code: string; message: string } {
  const { code, type, message } = objectIn(error);
  return { code: textIn(code) || textIn(type), message: textIn(message) };
}
