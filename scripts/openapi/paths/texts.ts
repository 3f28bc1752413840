import * as z from "zod";
import { ChatCompletion, ChatCompletionChunk, CountTokensResponse, GenerateContentResponse } from "../replies/texts.ts";
import { Message, MessageEvent, MessageTokens, ResponseEvent, ResponseObject } from "../replies/texts.ts";
import { orDryRun } from "../replies/dry_run.ts";
import { PAID_ERRORS } from "../errors.ts";
import { PAID } from "../headers.ts";
import { inPath, inQuery, type Operation, type OtherContent, type Reply, type StreamEvent } from "../operation.ts";
import { MESSAGE_VERSIONS, PAID_HEADERS, PIN, RESUME } from "../parameters.ts";
import type { JsonSchema } from "../schema.ts";

/** The schemas of the requests, which come from the types of official clients. */
export interface TextRequests {
  readonly chat: JsonSchema;
  readonly responses: JsonSchema;
  readonly messages: JsonSchema;
  readonly messageCount: JsonSchema;
  readonly content: JsonSchema;
  readonly contentCount: JsonSchema;
}

const HELLO = [{ role: "user", content: "Say hello" }];

/** The endpoints for texts in all four formats. */
export function textOperations(requests: TextRequests): Operation[] {
  return [
    {
      id: "createChatCompletion",
      tag: "Chat completions",
      summary: "Answer a conversation in OpenAI's chat format",
      face: "default",
      parameters: [...PAID_HEADERS, RESUME],
      body: {
        json: requests.chat,
        examples: {
          "A question": { model: "sandbox/chat-1", messages: HELLO },
          "A stream with its usage": {
            model: "sandbox/chat-1",
            messages: HELLO,
            stream: true,
            stream_options: { include_usage: true },
          },
        },
      },
      replies: {
        200: textReply(ChatCompletion, [
          { name: null, description: "A piece of the reply", data: ChatCompletionChunk },
          { name: null, description: "`[DONE]`, at the end of a stream that did not fail", data: null },
        ]),
      },
      errors: PAID_ERRORS,
    },
    {
      id: "createResponse",
      tag: "Responses",
      summary: "Answer a conversation in OpenAI's responses format",
      face: "default",
      parameters: [...PAID_HEADERS, RESUME],
      body: { json: requests.responses, examples: { "A question": { model: "sandbox/chat-1", input: "Say hello" } } },
      replies: {
        200: textReply(ResponseObject, [
          {
            name: "response.…",
            description: "`response.created` to `response.completed`, or `response.failed`",
            data: ResponseEvent,
          },
          {
            name: "error",
            description: "A failure, before `response.failed`",
            data: z.looseObject({ type: z.literal("error") }),
          },
        ]),
      },
      errors: PAID_ERRORS,
    },
    {
      id: "createMessage",
      tag: "Messages",
      summary: "Answer a conversation in Anthropic's format",
      face: "message",
      parameters: [...MESSAGE_VERSIONS, ...PAID_HEADERS, RESUME],
      body: {
        json: requests.messages,
        examples: { "A question": { model: "sandbox/chat-1", max_tokens: 64, messages: HELLO } },
      },
      replies: {
        200: textReply(Message, [
          ...MESSAGE_EVENTS.map(([name, description]) => ({ name, description, data: MessageEvent })),
          { name: "error", description: "A failure", data: z.looseObject({ type: z.literal("error") }) },
          { name: "…", description: "Others, as newer vendors of the format send them", data: z.looseObject({}) },
        ]),
      },
      errors: PAID_ERRORS,
    },
    {
      id: "countMessageTokens",
      tag: "Messages",
      summary: "Count the tokens of a conversation in Anthropic's format",
      description: "It is free.",
      face: "message",
      parameters: [...MESSAGE_VERSIONS, PIN],
      body: { json: requests.messageCount, examples: { "A question": { model: "sandbox/chat-1", messages: HELLO } } },
      replies: { 200: { description: "The number of tokens", json: MessageTokens, headers: ["X-Service-Counted-By"] } },
      errors: COUNT_ERRORS,
    },
    generate("generateContent", requests.content, {
      200: {
        description: "The whole reply",
        json: orDryRun(GenerateContentResponse),
        headers: [...PAID, "X-Service-Output-Limit"],
      },
    }),
    {
      ...generate("streamGenerateContent", requests.content, {
        200: {
          description: "A stream: server-sent events with `alt=sse`, else a JSON array",
          json: z.union([z.array(GenerateContentResponse), orDryRun(GenerateContentResponse)]),
          other: [sse([{ name: null, description: "A piece of the reply", data: GenerateContentResponse }])],
          headers: [...PAID, "X-Service-Output-Limit", "X-Service-Resume"],
        },
      }),
      parameters: [MODEL, inQuery("alt", "`sse` for server-sent events.", z.string()), ...PAID_HEADERS, RESUME],
    },
    {
      ...generate("countTokens", requests.contentCount, {
        200: { description: "The number of tokens", json: CountTokensResponse, headers: ["X-Service-Counted-By"] },
      }),
      description: "It is free.",
      parameters: [MODEL, PIN],
      errors: COUNT_ERRORS,
    },
  ];
}

const MESSAGE_EVENTS = [
  ["message_start", "The message without its content"],
  ["content_block_start", "A block of the content begins"],
  ["content_block_delta", "A piece of the block"],
  ["content_block_stop", "The block is complete"],
  ["message_delta", "The stop reason and the usage"],
  ["message_stop", "The end"],
  ["ping", "Keeps a silent stream open"],
] as const;

const COUNT_ERRORS = PAID_ERRORS.filter((status) => ![402, 422].includes(status));

/** The model in the path of the content protocol. */
export const MODEL = inPath(
  "model",
  "The id of a model, an alias or a bare name. A slash may be percent-encoded.",
  z.string(),
);

const SUMMARIES = {
  generateContent: "Answer a conversation in Gemini's format",
  streamGenerateContent: "Answer a conversation in Gemini's format as a stream",
  countTokens: "Count the tokens of a conversation in Gemini's format",
};

function generate(verb: keyof typeof SUMMARIES, json: JsonSchema, replies: Operation["replies"]): Operation {
  return {
    id: verb,
    tag: "Generate content",
    summary: SUMMARIES[verb],
    face: "content",
    parameters: [MODEL, ...PAID_HEADERS],
    body: { json, examples: { "A question": { contents: [{ role: "user", parts: [{ text: "Say hello" }] }] } } },
    replies,
    errors: PAID_ERRORS,
  };
}

function textReply(json: z.ZodType, events: readonly StreamEvent[]): Reply {
  return {
    description: "The reply; with `stream: true` as server-sent events",
    json: orDryRun(json),
    other: [sse(events)],
    headers: [...PAID, "X-Service-Output-Limit", "X-Service-Resume"],
  };
}

/** A stream of server-sent events. */
export function sse(events: readonly StreamEvent[]): OtherContent {
  return { mediaType: "text/event-stream", events };
}
