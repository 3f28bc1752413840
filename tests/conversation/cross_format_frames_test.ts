import { assertEquals } from "@std/assert";
import type { CallerFormatName, WireFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";
import { toCallerEvents } from "../../src/services/texts/relay/caller_reply.ts";
import { eventReaderOf } from "../support/event_reader.ts";
import { CODECS, FORMATS, UPSTREAMS, VENDOR_FORMATS } from "../support/formats.ts";
import { replyContextOf } from "../support/conversations.ts";

/** A frame of a vendor, and the marks in it that a caller must see. */
interface Step {
  readonly frame: Frame;
  readonly marks: readonly string[];
}

const data = (body: unknown, event: string | null = null): Frame => ({ event, data: JSON.stringify(body) });
const named = (body: { readonly type: string; readonly [name: string]: unknown }): Frame => data(body, body.type);
const step = (frame: Frame, ...marks: string[]): Step => ({ frame, marks });

const chunk = (delta: unknown, finish: string | null = null) =>
  data({ id: "c1", model: "m", created: 1, choices: [{ index: 0, delta, finish_reason: finish }] });
const callDelta = (index: number, fields: Record<string, unknown>) => chunk({ tool_calls: [{ index, ...fields }] });
const called = (index: number, name: string) =>
  callDelta(index, { id: `call_${index}`, type: "function", function: { name, arguments: "" } });
const more = (index: number, text: string) => callDelta(index, { function: { arguments: text } });

const block = (index: number, content_block: unknown) => named({ type: "content_block_start", index, content_block });
const delta = (index: number, fields: unknown) => named({ type: "content_block_delta", index, delta: fields });
const stop = (index: number) => named({ type: "content_block_stop", index });

const item = (type: string, output_index: number, fields: Record<string, unknown>) =>
  named({ type: `response.${type}`, output_index, ...fields });
const callItem = (name: string, at: number, args: string, status: string) => ({
  type: "function_call",
  id: `fc_${at}`,
  call_id: `call_${at}`,
  name,
  arguments: args,
  status,
});

const parts = (...list: unknown[]) =>
  data({ responseId: "r1", modelVersion: "m", candidates: [{ index: 0, content: { role: "model", parts: list } }] });

const converse = (event: string, body: unknown) => data(body, event);
const converseStart = (at: number, name: string) =>
  converse("contentBlockStart", {
    contentBlockIndex: at,
    start: { toolUse: { toolUseId: `call_${at}`, name } },
  });
const converseDelta = (at: number, fields: unknown) =>
  converse("contentBlockDelta", { contentBlockIndex: at, delta: fields });

/** Text in three pieces, then two parallel calls, whose arguments arrive in two pieces where the format has pieces. */
const STREAMS: Readonly<Record<WireFormatName, readonly Step[]>> = {
  chat: [
    step(chunk({ role: "assistant", content: "" })),
    step(chunk({ content: "text-one" }), "text-one"),
    step(chunk({ content: "text-two" }), "text-two"),
    step(chunk({ content: "text-three" }), "text-three"),
    step(called(0, "name-a"), "name-a"),
    step(more(0, '{"q":"value-a1'), "value-a1"),
    step(more(0, 'value-a2"}'), "value-a2"),
    step(called(1, "name-b"), "name-b"),
    step(more(1, '{"q":"value-b1'), "value-b1"),
    step(more(1, 'value-b2"}'), "value-b2"),
    step(chunk({}, "tool_calls")),
    step({ event: null, data: "[DONE]" }),
  ],
  messages: [
    step(named({ type: "message_start", message: { id: "m1", model: "m", usage: { input_tokens: 1 } } })),
    step(block(0, { type: "text", text: "" })),
    step(delta(0, { type: "text_delta", text: "text-one" }), "text-one"),
    step(delta(0, { type: "text_delta", text: "text-two" }), "text-two"),
    step(delta(0, { type: "text_delta", text: "text-three" }), "text-three"),
    step(stop(0)),
    step(block(1, { type: "tool_use", id: "call_0", name: "name-a", input: {} }), "name-a"),
    step(delta(1, { type: "input_json_delta", partial_json: '{"q":"value-a1' }), "value-a1"),
    step(delta(1, { type: "input_json_delta", partial_json: 'value-a2"}' }), "value-a2"),
    step(stop(1)),
    step(block(2, { type: "tool_use", id: "call_1", name: "name-b", input: {} }), "name-b"),
    step(delta(2, { type: "input_json_delta", partial_json: '{"q":"value-b1' }), "value-b1"),
    step(delta(2, { type: "input_json_delta", partial_json: 'value-b2"}' }), "value-b2"),
    step(stop(2)),
    step(named({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } })),
    step(named({ type: "message_stop" })),
  ],
  responses: [
    step(named({ type: "response.created", response: { id: "r1", model: "m", created_at: 1 } })),
    step(item("output_item.added", 0, { item: { type: "message", id: "msg_0", content: [] } })),
    step(item("content_part.added", 0, { content_index: 0, part: { type: "output_text", text: "" } })),
    step(item("output_text.delta", 0, { content_index: 0, delta: "text-one" }), "text-one"),
    step(item("output_text.delta", 0, { content_index: 0, delta: "text-two" }), "text-two"),
    step(item("output_text.delta", 0, { content_index: 0, delta: "text-three" }), "text-three"),
    step(item("output_item.done", 0, {
      item: { type: "message", id: "msg_0", content: [{ type: "output_text", text: "text-onetext-twotext-three" }] },
    })),
    step(item("output_item.added", 1, { item: callItem("name-a", 0, "", "in_progress") }), "name-a"),
    step(item("function_call_arguments.delta", 1, { delta: '{"q":"value-a1' }), "value-a1"),
    step(item("function_call_arguments.delta", 1, { delta: 'value-a2"}' }), "value-a2"),
    step(item("output_item.done", 1, { item: callItem("name-a", 0, '{"q":"value-a1value-a2"}', "completed") })),
    step(item("output_item.added", 2, { item: callItem("name-b", 1, "", "in_progress") }), "name-b"),
    step(item("function_call_arguments.delta", 2, { delta: '{"q":"value-b1' }), "value-b1"),
    step(item("function_call_arguments.delta", 2, { delta: 'value-b2"}' }), "value-b2"),
    step(item("output_item.done", 2, { item: callItem("name-b", 1, '{"q":"value-b1value-b2"}', "completed") })),
    step(named({ type: "response.completed", response: { id: "r1", model: "m", status: "completed" } })),
  ],
  content: [
    step(parts({ text: "text-one" }), "text-one"),
    step(parts({ text: "text-two" }), "text-two"),
    step(parts({ text: "text-three" }), "text-three"),
    step(
      parts({
        functionCall: { id: "call_0", name: "name-a", args: { q: "value-a1value-a2" } },
        thoughtSignature: "c2ln",
      }),
      "name-a",
      "value-a1",
      "value-a2",
    ),
    step(
      parts({ functionCall: { id: "call_1", name: "name-b", args: { q: "value-b1value-b2" } } }),
      "name-b",
      "value-b1",
    ),
    step(data({ candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "STOP" }] })),
  ],
  converse: [
    step(converse("messageStart", { role: "assistant" })),
    step(converseDelta(0, { text: "text-one" }), "text-one"),
    step(converseDelta(0, { text: "text-two" }), "text-two"),
    step(converseDelta(0, { text: "text-three" }), "text-three"),
    step(converse("contentBlockStop", { contentBlockIndex: 0 })),
    step(converseStart(1, "name-a"), "name-a"),
    step(converseDelta(1, { toolUse: { input: '{"q":"value-a1' } }), "value-a1"),
    step(converseDelta(1, { toolUse: { input: 'value-a2"}' } }), "value-a2"),
    step(converse("contentBlockStop", { contentBlockIndex: 1 })),
    step(converseStart(2, "name-b"), "name-b"),
    step(converseDelta(2, { toolUse: { input: '{"q":"value-b1' } }), "value-b1"),
    step(converseDelta(2, { toolUse: { input: 'value-b2"}' } }), "value-b2"),
    step(converse("contentBlockStop", { contentBlockIndex: 2 })),
    step(converse("messageStop", { stopReason: "tool_use" })),
    step(converse("metadata", { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } })),
  ],
};

/**
 * What is later than the vendor's frame, and why. A mark that is not listed is in the frames that are written for the
 * vendor's frame itself.
 */
const LATER: Readonly<Partial<Record<CallerFormatName, { readonly marks: RegExp; readonly reason: string }>>> = {
  content: { marks: /^(?:name|value)-/, reason: "the format has only whole calls, so a call is written at its end" },
};

/** How many frames of the vendor later a caller gets each mark; -1 for never. */
function delaysOf(from: WireFormatName, to: CallerFormatName): Record<string, number> {
  const reader = eventReaderOf({ upstream: UPSTREAMS[from] });
  const own = toCallerEvents({ issuer: "v", tools: new Map(), properties: new Map(), customTools: new Set() });
  const writer = CODECS[to].caller.eventWriter(replyContextOf());
  const written = STREAMS[from].map(({ frame }) =>
    reader.read(frame).flatMap(own).flatMap((event) => writer.write(event)).map(({ data }) => data).join("\n")
  );
  const delays: Record<string, number> = {};
  for (const [at, { marks }] of STREAMS[from].entries()) {
    for (const mark of marks) {
      const seen = written.findIndex((text) => text.includes(mark));
      delays[mark] = seen < 0 ? -1 : seen - at;
    }
  }
  return delays;
}

for (const from of VENDOR_FORMATS) {
  for (const to of FORMATS) {
    Deno.test(`${from} to ${to}: nothing of a stream is later than the vendor's own frame`, () => {
      const later = Object.entries(delaysOf(from, to))
        .filter(([mark, delay]) => delay !== 0 && LATER[to]?.marks.test(mark) !== true);
      assertEquals(later, []);
    });

    Deno.test(`${from} to ${to}: a call is closed at the latest when the next one begins`, () => {
      const reader = eventReaderOf({ upstream: UPSTREAMS[from] });
      const events = STREAMS[from].flatMap(({ frame }) => reader.read(frame));
      const starts = events.flatMap((event, at) =>
        event.type === "part-start" && event.part.kind === "tool_call" ? [{ at, index: event.index }] : []
      );
      const [first, second] = starts;
      const end = events.findIndex((event) => event.type === "part-end" && event.index === first?.index);
      assertEquals(starts.length, 2);
      assertEquals(end >= 0 && end < (second?.at ?? -1), true);
    });
  }
}

Deno.test("a call that a content caller gets is whole, and comes when it is", () => {
  for (const from of VENDOR_FORMATS) {
    const delays = delaysOf(from, "content");
    for (const mark of ["name-a", "value-a1"]) {
      const frames = delays[mark] ?? -1;
      assertEquals(frames >= 0 && frames <= 4, true, `${from}: ${mark} comes ${frames} frames later`);
    }
  }
});
