import { assertEquals } from "@std/assert";
import type { Conversation, Part } from "../../src/conversation/neutral/conversation.ts";
import type { ReplyPart } from "../../src/conversation/neutral/reply.ts";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { reasoningMemoryOver } from "../../src/services/texts/memory/reasoning_memory.ts";
import { conversationOf } from "../support/conversations.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";

const signature = { format: "messages", issuer: "acme", value: "proof" } as const;
const thought = { kind: "reasoning", text: "hm", signature } as const;
const call = { kind: "tool_call", callId: "c1", tool: "t", input: "{}" } as const;

function conversationWith(parts: readonly Part[]): Conversation {
  return conversationOf({ turns: [{ role: "assistant", parts }] });
}

Deno.test("reasoning memory restores reasoning before the call that it belongs to", () => {
  const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keep("demo", [thought, call], "all");
  const bare = { kind: "reasoning", text: "what the client shows" } as const;
  const { turns } = memory.restore("demo", conversationWith([bare, call]));
  assertEquals(turns[0]?.parts, [thought, call]);
});

Deno.test("reasoning memory restores a call's own signature", () => {
  const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keep("demo", [{ ...call, signature }], "all");
  assertEquals(memory.restore("demo", conversationWith([call])).turns[0]?.parts, [{ ...call, signature }]);
});

Deno.test("reasoning memory separates accounts and expires after some hours", () => {
  const clock = new ManualClock();
  const memory = reasoningMemoryOver(new BoundedMemory(clock));
  memory.keep("demo", [thought, call], "all");
  assertEquals(memory.restore("other", conversationWith([call])).turns[0]?.parts.length, 1);
  clock.advance(7 * 3_600_000);
  assertEquals(memory.restore("demo", conversationWith([call])).turns[0]?.parts.length, 1);
});

const said = { kind: "text", text: "Here is what I found, in some words." } as const;
const late = { kind: "reasoning", text: "", redacted: true, signature } as const;

Deno.test("reasoning memory restores the signature of a text, for formats that carry none and formats that carry all but the last", () => {
  for (const signatures of ["all", "last"] as const) {
    const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
    memory.keep("demo", [{ ...said, signature }], signatures);
    assertEquals(memory.restore("demo", conversationWith([said])).turns[0]?.parts, [{ ...said, signature }]);
    assertEquals(memory.restore("other", conversationWith([said])).turns[0]?.parts, [said]);
    const other = { ...said, text: `${said.text} ` };
    assertEquals(memory.restore("demo", conversationWith([other])).turns[0]?.parts, [other]);
  }
});

Deno.test("reasoning memory keeps no signature of an ambiguous text", () => {
  const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keep("demo", [{ kind: "text", text: "Yes.", signature }], "all");
  const request = conversationWith([{ kind: "text", text: "Yes." }]);
  assertEquals(memory.restore("demo", request), request);
});

Deno.test("reasoning memory keeps the reasoning after the last text, and other reasoning that the format does not carry", () => {
  const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keep("demo", [thought, said, late], "last");
  assertEquals(memory.restore("demo", conversationWith([said])).turns[0]?.parts, [late, said]);
  assertEquals(itemAt(memory.restore("demo", conversationWith([thought, said])).turns, 0).parts[0], thought);
  memory.keep("demo", [thought, { ...call, callId: "c2" }, { ...call, signature }], "last");
  const both = itemAt(memory.restore("demo", conversationWith([{ ...call, callId: "c2" }, call])).turns, 0).parts;
  assertEquals(both, [{ ...call, callId: "c2" }, { ...call, signature }]);
  const none = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
  none.keep("demo", [{ ...said, signature }], "none");
  assertEquals(none.restore("demo", conversationWith([said])).turns[0]?.parts, [said]);
});

const nth = (value: string) => ({ kind: "reasoning", text: value, signature: { ...signature, value } }) as const;
const callOf = (callId: string) => ({ ...call, callId }) as const;
const textOf = (text: string) => ({ kind: "text", text }) as const;
const redacted = { kind: "reasoning", text: "", redacted: true, signature: { ...signature, value: "hidden" } } as const;

/** Replies with reasoning between calls, and with text between. */
const CHAINS: readonly (readonly ReplyPart[])[] = [
  [nth("A"), callOf("c1"), nth("B"), callOf("c2")],
  [nth("A"), textOf("First."), callOf("c1"), nth("B"), textOf("Then, more."), callOf("c2"), nth("C"), callOf("c3")],
  [textOf("Well"), nth("A"), callOf("c1"), callOf("c2"), redacted, nth("B"), textOf("So"), callOf("c3")],
  [callOf("c1"), redacted, callOf("c2")],
  [nth("A"), nth("B"), textOf("x"), callOf("c1"), nth("C")],
];

for (const [at, chain] of CHAINS.entries()) {
  Deno.test(`reasoning memory puts reasoning and text back between the calls of a message: chain ${at}`, () => {
    const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
    memory.keep("demo", chain, "all");
    const text = chain.map((part) => part.kind === "text" ? part.text : "").join("");
    const calls = chain.filter((part) => part.kind === "tool_call");
    const reasoning = chain.filter((part) => part.kind === "reasoning");
    const texts = text === "" ? [] : [textOf(text)];
    for (const kept of [reasoning, [], [{ kind: "reasoning", text: "what the client shows" } as const]]) {
      assertEquals(memory.restore("demo", conversationWith([...kept, ...texts, ...calls])).turns[0]?.parts, chain);
    }
    // A client that changed the text keeps it, before the calls.
    const changed = memory.restore("demo", conversationWith([...reasoning, textOf(""), ...calls])).turns[0]?.parts ??
      [];
    assertEquals(changed.filter((part) => part.kind === "tool_call"), calls);
    assertEquals(changed.filter((part) => part.kind === "reasoning"), reasoning);
  });
}
