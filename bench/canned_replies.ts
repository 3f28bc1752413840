import { type BenchFormat, CHUNKS, type Mode } from "./load_request.ts";

/** The tokens that every reply reports, so that every request costs the same. */
export const USAGE = { prompt: 120, completion: 200 };

const TEXT = "word ".repeat(140);
const CREATED_AT = 1_760_000_000;
const MODEL = "canned-1";

/**
 * Where an upstream in C writes the time at which it sends a chunk of a paced stream: microseconds of the monotonic
 * clock in as many digits. Zero in the place of a time that nobody has written.
 */
export const STAMP: { readonly mark: string; readonly digits: number } = { mark: "t=", digits: 16 };

/**
 * A reply as a vendor of a wire format writes it: bytes on the wire, with head and HTTP framing, in the pieces that are
 * written at once. A paced stream has one text chunk in each piece; its last piece also ends the stream.
 */
export function cannedReply(wire: BenchFormat, mode: Mode): readonly Uint8Array<ArrayBuffer>[] {
  const parts = REPLY_PARTS[wire];
  const encoder = new TextEncoder();
  if (mode === "json") return [encoder.encode(wholeOf(JSON.stringify(parts.reply)))];
  const frames = framesOf(parts, mode);
  return (mode === "burst" ? [frames.join("")] : frames).map((frame) => encoder.encode(frame));
}

function framesOf({ opening, chunk, closing }: ReplyParts, mode: "burst" | "paced"): string[] {
  const stamp = mode === "burst" ? "" : `${STAMP.mark}${"0".repeat(STAMP.digits)} `;
  const textOf = (index: number) => `token${index} ${stamp}`;
  const frames = Array.from({ length: CHUNKS[mode] }, (_, index) => chunkOf(chunk(textOf(index))));
  frames[0] = STREAM_HEAD + opening.map(chunkOf).join("") + frames[0];
  frames[frames.length - 1] += closing.map(chunkOf).join("") + "0\r\n\r\n";
  return frames;
}

const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

function wholeOf(json: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
}

/** Writes an HTTP chunk. All text is ASCII, so a character is a byte. RFC 9112, 7.1. */
function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** The parts of one format's reply: a whole reply, and the event frames of a stream. */
interface ReplyParts {
  readonly reply: unknown;
  /** Frames before the first text chunk. */
  readonly opening: readonly string[];
  readonly chunk: (text: string) => string;
  /** Frames after the last text chunk. */
  readonly closing: readonly string[];
}

/** Source: Chat Completions API reference, "The chat completion chunk object". */
function chatParts(): ReplyParts {
  const common = { id: "chatcmpl-canned", created: CREATED_AT, model: MODEL };
  const usage = {
    prompt_tokens: USAGE.prompt,
    completion_tokens: USAGE.completion,
    total_tokens: USAGE.prompt + USAGE.completion,
  };
  const chunk = (choices: unknown, ofUsage: unknown = null) =>
    `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices, usage: ofUsage })}\n\n`;
  const choice = (delta: unknown, finish_reason: string | null = null) => [{ index: 0, delta, finish_reason }];
  return {
    reply: {
      ...common,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
      usage,
    },
    opening: [],
    chunk: (text) => chunk(choice({ content: text })),
    closing: [chunk(choice({}, "stop")), chunk([], usage), "data: [DONE]\n\n"],
  };
}

/** Source: Messages API reference, "Streaming". */
function messagesParts(): ReplyParts {
  const message = { id: "msg_canned", type: "message", role: "assistant", model: MODEL };
  const usage = { input_tokens: USAGE.prompt, output_tokens: USAGE.completion };
  const event = (type: string, fields: Record<string, unknown>) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  return {
    reply: { ...message, content: [{ type: "text", text: TEXT }], stop_reason: "end_turn", stop_sequence: null, usage },
    opening: [
      event("message_start", { message: start }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ],
    chunk: (text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    closing: [
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }),
      event("message_stop", {}),
    ],
  };
}

/** Source: generateContent API reference, "GenerateContentResponse". */
function contentParts(): ReplyParts {
  const common = { modelVersion: MODEL, responseId: "canned" };
  const usageMetadata = {
    promptTokenCount: USAGE.prompt,
    candidatesTokenCount: USAGE.completion,
    totalTokenCount: USAGE.prompt + USAGE.completion,
  };
  const candidate = (text: string) => ({ content: { role: "model", parts: [{ text }] }, index: 0 });
  const frame = (fields: unknown) => `data: ${JSON.stringify(fields)}\r\n\r\n`;
  return {
    reply: { candidates: [{ ...candidate(TEXT), finishReason: "STOP" }], usageMetadata, ...common },
    opening: [],
    chunk: (text) => frame({ candidates: [candidate(text)], ...common }),
    closing: [frame({ candidates: [{ ...candidate(""), finishReason: "STOP" }], usageMetadata, ...common })],
  };
}

const REPLY_PARTS: Readonly<Record<BenchFormat, ReplyParts>> = {
  chat: chatParts(),
  messages: messagesParts(),
  content: contentParts(),
};
