import { eventReaderOf } from "../support/event_reader.ts";
import { assertEquals } from "@std/assert";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../src/conversation/neutral/reply.ts";
import { emulationFor } from "../../src/services/texts/relay/emulation.ts";
import { conversationOf } from "../support/conversations.ts";
import { CODECS, FORMATS } from "../support/formats.ts";
import { wireOf } from "./support.ts";
import { createFrameReader } from "../../src/platform/lib/streams/sse.ts";

const call = (callId: string): ReplyPart & { kind: "tool_call" } => ({
  kind: "tool_call",
  callId,
  tool: "look",
  input: "{}",
});

function conversationWith(stop: readonly string[], parallelToolCalls: boolean | null = null) {
  return conversationOf({ parallelToolCalls, sampling: { ...conversationOf().sampling, stop } });
}

function replyWith(parts: readonly ReplyPart[]): Reply {
  return {
    id: "r",
    model: "m",
    createdAt: 1,
    parts,
    stop: { reason: "end", raw: "stop" },
    usage: null,
    unsupportedFields: [],
  };
}

Deno.test("emulationFor() removes only the emulated fields from the dropped fields", () => {
  const droppedFields = ["stop", "parallel_tool_calls", "top_k"];
  assertEquals(emulationFor(conversationWith(["END"], false), droppedFields).droppedFields, ["top_k"]);
  assertEquals(emulationFor(conversationWith([], null), droppedFields).droppedFields, droppedFields);
  assertEquals(emulationFor(conversationWith(["END"], false), []).droppedFields, []);
});

Deno.test("emulation leaves a reply unchanged if the vendor supports every field", () => {
  const reply = replyWith([{ kind: "text", text: "the END of it" }, call("a"), call("b")]);
  assertEquals(emulationFor(conversationWith(["END"], false), []).emulation.reply(reply), reply);
});

Deno.test("emulation ends a whole reply at the stop sequence, and drops the rest", () => {
  const { emulation } = emulationFor(conversationWith(["END"]), ["stop"]);
  const thought = { kind: "reasoning", text: "END of thought" } as const;
  const reply = replyWith([thought, { kind: "text", text: "up to END more" }, call("a")]);
  const { parts, stop } = emulation.reply(reply);
  assertEquals(parts, [thought, { kind: "text", text: "up to " }]);
  assertEquals(stop, { reason: "stop_sequence", raw: null, sequence: "END" });
  const whole = replyWith([{ kind: "text", text: "no such thing: EN" }, call("a")]);
  assertEquals(emulation.reply(whole), whole);
});

Deno.test("emulation keeps the first of several calls, in a whole reply and in a stream of any format", () => {
  const { emulation } = emulationFor(conversationWith([], false), ["parallel_tool_calls"]);
  const text = { kind: "text", text: "two calls" } as const;
  assertEquals(emulation.reply(replyWith([call("a"), text, call("b"), call("c")])).parts, [call("a"), text]);
  const events: ReplyEvent[] = [
    { type: "start", id: "r", model: "m", createdAt: 1, usage: null },
    ...[0, 1].flatMap((index): ReplyEvent[] => [
      { type: "part-start", index, part: { kind: "tool_call", callId: `call_${index}`, tool: "look" } },
      { type: "part-delta", index, text: `{"n":${index}}` },
      { type: "part-end", index },
    ]),
    { type: "part-start", index: 2, part: { kind: "text" } },
    { type: "part-delta", index: 2, text: "behind" },
    { type: "part-end", index: 2 },
    { type: "finish", stop: { reason: "tool_calls", raw: null }, usage: null },
  ];
  // Content callers cannot request this, so their writer sees no gap in the indexes.
  for (const form of FORMATS.filter((one) => one !== "content")) {
    const frames = createFrameReader().push(new TextEncoder().encode(wireOf(form, events.flatMap(emulation.events()))));
    const reader = eventReaderOf(CODECS[form]);
    const told = [...frames.flatMap((frame) => reader.read(frame)), ...reader.end()];
    const deltas = told.flatMap((event) => event.type === "part-delta" ? [event.text] : []);
    assertEquals(deltas.sort(), ["behind", '{"n":0}'], form);
    assertEquals(told.at(-1)?.type, "finish");
  }
});
