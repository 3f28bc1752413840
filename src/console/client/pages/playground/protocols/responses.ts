import { type ChatSettings, type Media, type Message, ownFormOf, SCHEMA_NAME } from "../conversation.ts";
import { type JsonObject, numberIn, objectIn, textIn } from "../../../json.ts";
import { costIn, emptyReply, type ReplyReader } from "../reply.ts";
import { readError } from "./chat.ts";
import { dataUrl, isImage } from "./media.ts";
import { responsesSnippets } from "../snippets/responses_snippets.ts";
import type { Protocol } from "./protocol.ts";
import { readResponses } from "./read_responses.ts";

/** Responses. Source: docs/api/responses.md. */
export const responses: Protocol = {
  name: "responses",
  endpoint: "/v1/responses",
  read: readResponses,
  snippets: responsesSnippets,
  write: (settings, messages) => ({
    protocol: "responses",
    model: settings.model,
    path: "/v1/responses",
    body: writeBody(settings, messages),
  }),
  reader: responsesReader,
};

function writeBody(settings: ChatSettings, messages: readonly Message[]): JsonObject {
  const { model, system, temperature, maxTokens, thinking, tools, schema } = settings;
  return {
    model,
    ...system !== "" && { instructions: system },
    input: messages.flatMap(writeItems),
    stream: true,
    // The whole conversation is sent each time, with the reasoning, so that no vendor has to store it.
    store: false,
    include: ["reasoning.encrypted_content"],
    ...temperature !== null && { temperature },
    ...maxTokens !== null && { max_output_tokens: maxTokens },
    ...thinking !== "default" && {
      reasoning: thinking === "off" ? { effort: "none" } : { effort: thinking, summary: "auto" },
    },
    ...tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function",
        name,
        ...description !== "" && { description },
        parameters,
        strict: false,
      })),
    },
    ...schema !== null && { text: { format: { type: "json_schema", name: SCHEMA_NAME, schema, strict: true } } },
  };
}

function writeItems(message: Message): unknown[] {
  if (message.role === "tool") {
    return message.results.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text }));
  }
  if (message.role === "user") {
    const content = message.parts.map((part) =>
      part.kind === "text" ? { type: "input_text", text: part.text } : writeMedia(part)
    );
    return [{ role: "user", content }];
  }
  const { text, calls } = message;
  const own = ownFormOf(message, "responses");
  if (Array.isArray(own)) return own;
  return [
    ...text === "" ? [] : [{ role: "assistant", content: [{ type: "output_text", text }] }],
    ...calls.map(({ id, name, input }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: input === "" ? "{}" : input,
    })),
  ];
}

function writeMedia(file: Media): JsonObject {
  if (isImage(file)) return { type: "input_image", detail: "auto", image_url: dataUrl(file) };
  return { type: "input_file", filename: file.name, file_data: dataUrl(file) };
}

function responsesReader(): ReplyReader {
  const reply = emptyReply();
  const items: unknown[] = [];
  /** The place in `reply.calls` by the place of the item. */
  const calls = new Map<number, number>();
  return { reply, take, own: () => items };

  function take(data: unknown): void {
    const event = objectIn(data);
    const delta = textIn(event.delta);
    switch (event.type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        reply.text += delta;
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        reply.thinking += delta;
        break;
      case "response.reasoning_summary_part.added":
        if (reply.thinking !== "") reply.thinking += "\n\n";
        break;
      case "response.output_item.added":
        beginItem(numberIn(event.output_index), objectIn(event.item));
        break;
      case "response.function_call_arguments.delta":
        extendCall(numberIn(event.output_index), delta);
        break;
      case "response.output_item.done":
        endItem(numberIn(event.output_index), objectIn(event.item));
        break;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        end(objectIn(event.response));
        break;
      case "error":
        reply.error = readError(event.error ?? event);
        break;
    }
  }

  function beginItem(index: number, item: JsonObject): void {
    if (item.type !== "function_call") return;
    calls.set(index, reply.calls.length);
    reply.calls.push({ id: textIn(item.call_id), name: textIn(item.name), input: "" });
  }

  function extendCall(index: number, delta: string): void {
    const place = calls.get(index) ?? -1;
    const call = reply.calls[place];
    if (call !== undefined) reply.calls[place] = { ...call, input: call.input + delta };
  }

  function endItem(index: number, item: JsonObject): void {
    items.push(item);
    const place = calls.get(index) ?? -1;
    const call = reply.calls[place];
    if (call !== undefined) reply.calls[place] = { ...call, input: textIn(item.arguments) || call.input };
  }

  function end({ status, incomplete_details: details, error, usage: sent }: JsonObject): void {
    reply.stop = textIn(objectIn(details).reason) || textIn(status);
    if (error) reply.error = readError(error);
    const usage = objectIn(sent);
    reply.cost = costIn(usage.cost);
    if (!sent) return;
    reply.usage = {
      input: numberIn(usage.input_tokens),
      output: numberIn(usage.output_tokens),
      cached: numberIn(objectIn(usage.input_tokens_details).cached_tokens),
      reasoning: numberIn(objectIn(usage.output_tokens_details).reasoning_tokens),
    };
  }
}
