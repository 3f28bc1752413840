import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { Reply, ReplyPart, StopReason } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { replyContextOf } from "../support/conversations.ts";
import { CODECS, FORMATS, framesOf } from "../support/formats.ts";
import { streamOf } from "../support/stream_of.ts";

const CONTEXT = replyContextOf({});
const TEXT: ReplyPart = { kind: "text", text: "Hi" };
const CALL: ReplyPart = { kind: "tool_call", callId: "call_1", tool: "look", input: "{}" };

/** The stop reason that callers of each format receive for every stop of a vendor. */
const WORDS: Readonly<Record<StopReason, Readonly<Record<CallerFormatName, string>>>> = {
  end: { chat: "stop", responses: "completed", messages: "end_turn", content: "STOP" },
  stop_sequence: { chat: "stop", responses: "completed", messages: "stop_sequence", content: "STOP" },
  max_tokens: { chat: "length", responses: "max_output_tokens", messages: "max_tokens", content: "MAX_TOKENS" },
  context_full: {
    chat: "length",
    responses: "max_output_tokens",
    messages: "model_context_window_exceeded",
    content: "MAX_TOKENS",
  },
  tool_calls: { chat: "tool_calls", responses: "completed", messages: "tool_use", content: "STOP" },
  refusal: { chat: "content_filter", responses: "completed", messages: "refusal", content: "SAFETY" },
  content_filter: { chat: "content_filter", responses: "content_filter", messages: "refusal", content: "SAFETY" },
  prompt_blocked: {
    chat: "content_filter",
    responses: "failed",
    messages: "refusal",
    content: "PROHIBITED_CONTENT",
  },
  bad_tool_call: { chat: "stop", responses: "failed", messages: "end_turn", content: "MALFORMED_FUNCTION_CALL" },
  paused: { chat: "stop", responses: "completed", messages: "pause_turn", content: "CONTINUATION" },
};

function replyOf(reason: StopReason): Reply {
  const stop = { reason, raw: null, ...reason === "stop_sequence" ? { sequence: "END" } : {} };
  const parts = reason === "tool_calls" ? [TEXT, CALL] : [TEXT];
  return { id: "r", model: "m", createdAt: 5, parts, stop, usage: null, unsupportedFields: [] };
}

/** The stop reason in a whole reply, or in the frame of a stream that has it. */
function wordIn(form: CallerFormatName, body: JsonObject): string | undefined {
  // deno-lint-ignore no-explicit-any -- a reply's shape is what the client knows
  const reply = body as any;
  switch (form) {
    case "chat":
      return reply.choices?.[0]?.finish_reason ?? undefined;
    case "responses": {
      const response = reply.response ?? reply;
      return response.incomplete_details?.reason ?? response.status;
    }
    case "messages":
      return reply.stop_reason ?? reply.delta?.stop_reason;
    case "content":
      return reply.candidates?.[0]?.finishReason;
  }
}

for (const form of FORMATS) {
  for (const [reason, words] of Object.entries(WORDS)) {
    Deno.test(`a ${form} caller receives the stop ${reason} as ${words[form]}, whole and streamed`, () => {
      const reply = replyOf(reason as StopReason);
      assertEquals(wordIn(form, CODECS[form].caller.writeReply(reply, CONTEXT).body), words[form]);
      const data = framesOf(form, streamOf(reply), CONTEXT).map((frame) => frame.data).filter((one) =>
        one !== "[DONE]"
      );
      const said = data.map((one) => wordIn(form, JSON.parse(one))).filter((word) => word !== undefined);
      assertEquals(said.at(-1), words[form]);
    });
  }
}
