import { assertEquals } from "@std/assert";
import type { Conversation, Part } from "../../src/conversation/conversation.ts";
import { BoundedMemory } from "../../src/texts/bounded_memory.ts";
import { reasoningMemoryOver } from "../../src/texts/reasoning_memory.ts";
import { conversationOf } from "../support/conversations.ts";
import { ManualClock } from "../support/manual_clock.ts";

const seal = { form: "messages", issuer: "acme", value: "proof" } as const;
const thought = { kind: "reasoning", text: "hm", seal } as const;
const call = { kind: "tool_call", callId: "c1", tool: "t", input: "{}" } as const;

function conversationWith(parts: readonly Part[]): Conversation {
  return conversationOf({ turns: [{ role: "assistant", parts }] });
}

Deno.test("reasoning memory puts thoughts back before the call that they belong to", () => {
  const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keep("demo", [thought, call]);
  const bare = { kind: "reasoning", text: "what the client shows" } as const;
  const { turns } = memory.restore("demo", conversationWith([bare, call]));
  assertEquals(turns[0].parts, [thought, { ...call, seal: undefined }]);
});

Deno.test("reasoning memory puts a call's own proof back", () => {
  const memory = reasoningMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keep("demo", [{ ...call, seal }]);
  assertEquals(memory.restore("demo", conversationWith([call])).turns[0].parts, [{ ...call, seal }]);
});

Deno.test("reasoning memory keeps accounts apart and forgets after some hours", () => {
  const clock = new ManualClock();
  const memory = reasoningMemoryOver(new BoundedMemory(clock));
  memory.keep("demo", [thought, call]);
  assertEquals(memory.restore("other", conversationWith([call])).turns[0].parts.length, 1);
  clock.advance(7 * 3_600_000);
  assertEquals(memory.restore("demo", conversationWith([call])).turns[0].parts.length, 1);
});
