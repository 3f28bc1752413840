import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";

/** The text of each reply. */
export const FRAMED_TEXT = 'Grüße 😀 "usage"';

/** The tokens of each reply: prompt and output. */
export const FRAMED_TOKENS = [12, 30] as const;

const ANNOTATION = { type: "container_file_citation", container_id: "cntr_1", file_id: "cfile_1" };
const RESPONSE = { id: "resp_1", object: "response", created_at: 7, status: "in_progress", error: null };

/** The ids that a reply contains, as `kind id`. */
export const FRAMED_IDS: Readonly<Record<CallerFormatName, readonly string[]>> = {
  chat: ["audio audio_1"],
  responses: ["response resp_1", "item msg_1", "container cntr_1", "file cfile_1"],
  messages: ["container cntr_1"],
  content: [],
};

/** A short reply of each format, as its vendor streams it. */
export const FRAMED_REPLIES: Readonly<Record<CallerFormatName, readonly Frame[]>> = {
  chat: [
    ...[{ role: "assistant", content: "" }, { content: "Grüße 😀" }, { content: ' "usage"', audio: { id: "audio_1" } }]
      .map((delta) =>
        unnamed({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: null }], usage: null })
      ),
    unnamed({ id: "c", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: null }),
    unnamed({
      id: "c",
      model: "m",
      choices: [],
      usage: { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 },
    }),
    { event: null, data: "[DONE]" },
  ],
  responses: [
    { type: "response.created", sequence_number: 0, response: RESPONSE },
    { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: { id: "msg_1", type: "message" } },
    { type: "response.output_text.delta", sequence_number: 2, item_id: "msg_1", delta: "Grüße 😀" },
    { type: "response.output_text.delta", sequence_number: 3, item_id: "msg_1", delta: ' "usage"' },
    { type: "response.output_text.annotation.added", sequence_number: 4, item_id: "msg_1", annotation: ANNOTATION },
    {
      type: "response.completed",
      sequence_number: 5,
      response: { ...RESPONSE, status: "completed", usage: { input_tokens: 12, output_tokens: 30, total_tokens: 42 } },
    },
  ].map(named),
  messages: [
    { type: "message_start", message: { id: "msg_1", model: "m", usage: { input_tokens: 12, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüße 😀" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: ' "usage"' } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", container: { id: "cntr_1" } },
      usage: { output_tokens: 30 },
    },
    { type: "message_stop" },
  ].map(named),
  content: [
    { candidates: [{ content: { parts: [{ text: "Grüße 😀" }] } }], usageMetadata: { promptTokenCount: 12 } },
    {
      candidates: [{ content: { parts: [{ text: ' "usage"' }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 30 },
    },
  ].map((chunk) => unnamed({ ...chunk, responseId: "r" })),
};

function unnamed(value: unknown): Frame {
  return { event: null, data: JSON.stringify(value) };
}

function named(value: { readonly type: string }): Frame {
  return { event: value.type, data: JSON.stringify(value) };
}
