import { type ChatSettings, type Media, type Message, ownFormOf, type Thinking } from "../conversation.ts";
import { type JsonObject, numberIn, objectIn, parsedJson, textIn } from "../../../json.ts";
import { costIn, emptyReply, type ReplyReader } from "../reply.ts";
import { isImage, textOfFile } from "./media.ts";
import { messagesSnippets } from "../snippets/messages_snippets.ts";
import type { Protocol } from "./protocol.ts";
import { readMessages } from "./read_messages.ts";

/** The format requires a limit. */
const DEFAULT_MAX_TOKENS = 4_096;
/** Tokens of reasoning, which count within the limit. */
const BUDGETS: Readonly<Record<Exclude<Thinking, "default" | "off">, number>> = {
  low: 1_024,
  medium: 8_192,
  high: 24_576,
};

/** Messages. Source: docs/api/messages.md. */
export const messages: Protocol = {
  name: "messages",
  endpoint: "/msgcompat/v1/messages",
  read: readMessages,
  snippets: messagesSnippets,
  write: (settings, conversation) => ({
    protocol: "messages",
    model: settings.model,
    path: "/msgcompat/v1/messages",
    body: writeBody(settings, conversation),
  }),
  reader: messagesReader,
};

function writeBody(settings: ChatSettings, conversation: readonly Message[]): JsonObject {
  const { model, system, temperature, maxTokens, thinking, tools, schema } = settings;
  const budget = thinking === "default" || thinking === "off" ? 0 : BUDGETS[thinking];
  return {
    model,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS + budget,
    ...system !== "" && { system },
    messages: conversation.map(writeTurn),
    stream: true,
    ...temperature !== null && { temperature },
    ...thinking !== "default" && {
      thinking: budget === 0 ? { type: "disabled" } : { type: "enabled", budget_tokens: budget },
    },
    ...tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        ...description !== "" && { description },
        input_schema: parameters,
      })),
    },
    ...schema !== null && { output_config: { format: { type: "json_schema", schema } } },
  };
}

function writeTurn(message: Message): JsonObject {
  if (message.role === "tool") {
    const content = message.results.map(({ id, text }) => ({ type: "tool_result", tool_use_id: id, content: text }));
    return { role: "user", content };
  }
  if (message.role === "user") {
    const content = message.parts.map((part) =>
      part.kind === "text" ? { type: "text", text: part.text } : writeMedia(part)
    );
    return { role: "user", content };
  }
  const { text, calls } = message;
  const own = ownFormOf(message, "messages");
  if (own !== null) return { role: "assistant", content: own };
  const content = [
    ...text === "" ? [] : [{ type: "text", text }],
    ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: objectIn(parsedJson(input)) })),
  ];
  return { role: "assistant", content };
}

function writeMedia(file: Media): JsonObject {
  const { mediaType, data, name } = file;
  if (isImage(file)) return { type: "image", source: { type: "base64", media_type: mediaType, data } };
  const source = mediaType === "application/pdf"
    ? { type: "base64", media_type: mediaType, data }
    : { type: "text", media_type: "text/plain", data: textOfFile(file) };
  return { type: "document", source, title: name };
}

function messagesReader(): ReplyReader {
  const reply = emptyReply();
  const blocks: Record<string, unknown>[] = [];
  /** The place in `reply.calls` by the index of the block. */
  const calls = new Map<number, number>();
  return { reply, take, own: () => blocks.filter((block) => block.type !== "text" || block.text !== "") };

  function take(data: unknown): void {
    const event = objectIn(data);
    const index = numberIn(event.index);
    switch (event.type) {
      case "message_start":
        takeUsage(objectIn(objectIn(event.message).usage));
        break;
      case "content_block_start":
        beginBlock(index, objectIn(event.content_block));
        break;
      case "content_block_delta":
        extendBlock(index, objectIn(event.delta));
        break;
      case "content_block_stop":
        endBlock(index);
        break;
      case "message_delta":
        reply.stop = textIn(objectIn(event.delta).stop_reason) || reply.stop;
        takeUsage(objectIn(event.usage));
        break;
      case "error": {
        const { type, message } = objectIn(event.error);
        reply.error = { code: textIn(type), message: textIn(message) };
      }
    }
  }

  function beginBlock(index: number, block: JsonObject): void {
    blocks[index] = { ...block };
    if (block.type === "text") reply.text += textIn(block.text);
    if (block.type === "thinking") {
      if (reply.thinking !== "") reply.thinking += "\n\n";
      reply.thinking += textIn(block.thinking);
    }
    if (block.type !== "tool_use") return;
    calls.set(index, reply.calls.length);
    reply.calls.push({ id: textIn(block.id), name: textIn(block.name), input: "" });
  }

  function extendBlock(index: number, delta: JsonObject): void {
    const block = blocks[index] ??= {};
    const { text, thinking, signature, partial_json: json } = delta;
    if (delta.type === "text_delta") {
      block.text = textIn(block.text) + textIn(text);
      reply.text += textIn(text);
    } else if (delta.type === "thinking_delta") {
      block.thinking = textIn(block.thinking) + textIn(thinking);
      reply.thinking += textIn(thinking);
    } else if (delta.type === "signature_delta") {
      block.signature = textIn(block.signature) + textIn(signature);
    } else if (delta.type === "input_json_delta") extendCall(index, textIn(json));
  }

  function extendCall(index: number, json: string): void {
    const place = calls.get(index) ?? -1;
    const call = reply.calls[place];
    if (call !== undefined) reply.calls[place] = { ...call, input: call.input + json };
  }

  function endBlock(index: number): void {
    const call = reply.calls[calls.get(index) ?? -1];
    const block = blocks[index];
    if (call !== undefined && block !== undefined) block.input = objectIn(parsedJson(call.input));
  }

  /** The last event has the totals; a count that it lacks is that of the start. */
  function takeUsage(usage: JsonObject): void {
    const before = reply.usage;
    const cached = numberIn(usage.cache_read_input_tokens);
    const written = numberIn(usage.cache_creation_input_tokens);
    const input = numberIn(usage.input_tokens) + cached + written;
    reply.cost = costIn(usage.cost) ?? reply.cost;
    reply.usage = {
      input: input || (before?.input ?? 0),
      output: numberIn(usage.output_tokens) || (before?.output ?? 0),
      cached: cached || (before?.cached ?? 0),
      reasoning: numberIn(objectIn(usage.output_tokens_details).thinking_tokens) || (before?.reasoning ?? 0),
    };
  }
}
