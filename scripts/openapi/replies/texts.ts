import * as z from "zod";
import { about, seconds } from "../schema.ts";

// A reply of a vendor of the caller's format passes as it is. So every object may have further members, and what a vendor
// may leave out is not required, though the gateway writes it in every reply of its own.

const id = () => z.string().exactOptional();
const count = () => z.number().nullish();

const ChatUsage = z.looseObject({
  prompt_tokens: count(),
  completion_tokens: count(),
  total_tokens: count(),
  prompt_tokens_details: z.looseObject({ cached_tokens: count() }).nullish(),
  completion_tokens_details: z.looseObject({ reasoning_tokens: count() }).nullish(),
}).meta({ id: "ChatUsage" });

const ChatToolCall = z.looseObject({
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).exactOptional(),
  custom: z.looseObject({ name: z.string(), input: z.string().exactOptional() }).exactOptional(),
}).meta({ id: "ChatToolCall" });

/** Of a whole message, and of the pieces of a stream. */
const chatMessage = {
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  reasoning_content: about(z.string(), "The reasoning, where it is shown.").nullish(),
  tool_calls: z.array(ChatToolCall).nullish(),
};

const finishReason = () => z.string().nullish();

/** The reply of chat completions. */
export const ChatCompletion = z.looseObject({
  id: id(),
  object: z.literal("chat.completion").exactOptional(),
  created: seconds().exactOptional(),
  model: about(z.string(), "The name in the request.").exactOptional(),
  choices: z.array(z.looseObject({
    index: z.int(),
    message: z.looseObject({ role: z.literal("assistant"), ...chatMessage }),
    finish_reason: finishReason(),
  })),
  usage: ChatUsage.nullish(),
}).meta({ id: "ChatCompletion" });

/** A piece of it. */
export const ChatCompletionChunk = z.looseObject({
  id: id(),
  object: z.literal("chat.completion.chunk").exactOptional(),
  created: seconds().exactOptional(),
  model: z.string().exactOptional(),
  choices: z.array(z.looseObject({
    index: z.int(),
    delta: z.looseObject({ role: z.string().nullish(), ...chatMessage }),
    finish_reason: finishReason(),
  })),
  usage: ChatUsage.nullish(),
}).meta({ id: "ChatCompletionChunk" });

/** The reply of responses. */
export const ResponseObject = z.looseObject({
  id: id(),
  object: z.literal("response").exactOptional(),
  created_at: about(z.number(), "Unix seconds.").exactOptional(),
  status: z.enum(["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"]).exactOptional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullish(),
  incomplete_details: z.looseObject({ reason: z.string() }).nullish(),
  model: z.string().exactOptional(),
  output: about(z.array(z.looseObject({ type: z.string() })), "Messages, reasoning, calls of tools."),
  usage: z.looseObject({ input_tokens: count(), output_tokens: count(), total_tokens: count() }).nullish(),
}).meta({ id: "ResponseObject" });

/** An event of its stream. */
export const ResponseEvent = z.looseObject({
  type: z.string(),
  sequence_number: z.int().exactOptional(),
  response: about(z.looseObject({ id: z.string() }), "Of events about the whole response.").exactOptional(),
}).meta({ id: "ResponseEvent" });

const MessageUsage = z.looseObject({
  input_tokens: count(),
  output_tokens: count(),
  cache_creation_input_tokens: count(),
  cache_read_input_tokens: count(),
}).meta({ id: "MessageUsage" });

/** The reply of messages. */
export const Message = z.looseObject({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: about(z.array(z.looseObject({ type: z.string() })), "Text, thinking, calls of tools."),
  stop_reason: z.string().nullable(),
  stop_sequence: z.string().nullish(),
  usage: MessageUsage,
}).meta({ id: "Message" });

/** An event of its stream. */
export const MessageEvent = z.looseObject({
  type: z.string(),
  index: about(z.int(), "Of events about a block of the content.").exactOptional(),
}).meta({ id: "MessageEvent" });

/** A number of tokens. */
export const MessageTokens = z.looseObject({ input_tokens: z.int() }).meta({ id: "MessageTokens" });

/** The reply of `generateContent`, whole or as a piece of a stream. */
export const GenerateContentResponse = z.looseObject({
  candidates: z.array(z.looseObject({
    content: z.looseObject({ role: z.string().exactOptional(), parts: z.array(z.looseObject({})).exactOptional() })
      .exactOptional(),
    finishReason: z.string().exactOptional(),
    index: z.int().exactOptional(),
  })).exactOptional(),
  promptFeedback: z.looseObject({ blockReason: z.string().exactOptional() }).exactOptional(),
  usageMetadata: z.looseObject({
    promptTokenCount: count(),
    candidatesTokenCount: count(),
    thoughtsTokenCount: count(),
    cachedContentTokenCount: count(),
    totalTokenCount: count(),
  }).exactOptional(),
  modelVersion: z.string().exactOptional(),
  responseId: z.string().exactOptional(),
}).meta({ id: "GenerateContentResponse" });

/** A number of tokens. */
export const CountTokensResponse = z.looseObject({
  totalTokens: z.int(),
  cachedContentTokenCount: z.int().exactOptional(),
}).meta({ id: "CountTokensResponse" });
