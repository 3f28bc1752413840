import type { TextRequests } from "./paths/texts.ts";
import { extraBody } from "./requests.ts";
import { requestSchema } from "./request_types.ts";
import type { Components, JsonSchema } from "./schema.ts";

const number = (minimum: number, maximum: number) => ({ type: ["number", "null"], minimum, maximum });
const whole = (minimum: number) => ({ type: ["integer", "null"], minimum });
const model = { type: "string", description: "The id of a model, an alias or a bare name." };

/** The types of Anthropic's and OpenAI's requests that are this many steps below the request are described. */
const DEPTH = 2;

/** The schemas of text requests, with what the gateway checks itself. Source: docs/api/chat-completions.md and others. */
export async function textRequests(components: Components): Promise<TextRequests> {
  const extra_body = components.schemaOf(extraBody());
  const chat = await requestSchema(components, "chat", {
    name: "ChatCompletionRequest",
    prefix: "Chat",
    description: "A request in OpenAI's chat format.",
    depth: Infinity,
    members: {
      model,
      extra_body,
      temperature: number(0, 2),
      top_p: number(0, 1),
      presence_penalty: number(-2, 2),
      frequency_penalty: number(-2, 2),
      max_tokens: whole(1),
      max_completion_tokens: whole(1),
    },
  });
  const responses = await requestSchema(components, "responses", {
    name: "ResponseRequest",
    prefix: "Responses",
    description: "A request in OpenAI's responses format.",
    depth: DEPTH,
    required: ["model"],
    members: { model, extra_body, temperature: number(0, 2), top_p: number(0, 1), max_output_tokens: whole(1) },
  });
  const messageMembers = { model, extra_body, temperature: number(0, 1), top_p: number(0, 1), top_k: whole(0) };
  const messages = await requestSchema(components, "messages", {
    name: "MessageRequest",
    prefix: "Messages",
    description: "A request in Anthropic's format.",
    depth: DEPTH,
    members: { ...messageMembers, max_tokens: { type: "integer", minimum: 0 } },
  });
  const messageCount = await requestSchema(components, "messages", {
    name: "MessageTokensRequest",
    prefix: "Messages",
    description: "A request in Anthropic's format without `max_tokens`, whose tokens are counted.",
    depth: DEPTH,
    required: ["model", "messages"],
    members: messageMembers,
  });
  const content = await requestSchema(components, "content", {
    name: "GenerateContentRequest",
    prefix: "Content",
    description: "A request in Gemini's format. Names may also be in snake_case.",
    depth: Infinity,
    members: {},
  });
  const contentCount: JsonSchema = components.add("CountTokensRequest", {
    description: "Contents, or a whole request, whose tokens are counted.",
    anyOf: [
      { type: "object", properties: { contents: {} }, required: ["contents"], additionalProperties: true },
      {
        type: "object",
        properties: { generateContentRequest: { type: "object", additionalProperties: true } },
        required: ["generateContentRequest"],
        additionalProperties: true,
      },
    ],
  });
  return { chat, responses, messages, messageCount, content, contentCount };
}
