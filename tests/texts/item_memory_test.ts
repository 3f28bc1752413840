import { assertEquals } from "@std/assert";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { itemMemoryOver } from "../../src/services/texts/memory/item_memory.ts";
import { ManualClock } from "../support/manual_clock.ts";

const item = { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] };
const reference = { type: "item_reference", id: "msg_1" };

function resolved(memory: ReturnType<typeof itemMemoryOver>, item: unknown, account = "demo"): unknown {
  return (memory.resolve(account, { input: [item] }).input as unknown[])[0];
}

Deno.test("item memory replaces a reference with the item of a whole reply", () => {
  const memory = itemMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keepReply("demo", { output: [item, { type: "no_id" }, null] });
  assertEquals(resolved(memory, reference), item);
  assertEquals(resolved(memory, { id: "msg_1" }), item, "the type may be left out");
});

Deno.test("item memory replaces a reference with the item of a stream", () => {
  const memory = itemMemoryOver(new BoundedMemory(new ManualClock()));
  const data = JSON.stringify({ type: "response.output_item.done", item });
  memory.keepFrame("demo", { event: "response.output_item.added", data });
  assertEquals(resolved(memory, reference), reference);
  memory.keepFrame("demo", { event: "response.output_item.done", data });
  assertEquals(resolved(memory, reference), item);
});

Deno.test("item memory leaves whole items, unknown references and text unchanged", () => {
  const memory = itemMemoryOver(new BoundedMemory(new ManualClock()));
  memory.keepReply("demo", { output: [item] });
  const other = { id: "msg_1", type: "message", role: "user", content: "mine" };
  const said = { id: "msg_1", role: "user", content: "mine" };
  for (const kept of [other, said, { type: "item_reference", id: "msg_2" }, "text", null]) {
    assertEquals(resolved(memory, kept), kept);
  }
  assertEquals(memory.resolve("demo", { input: "text" }), { input: "text" });
});

Deno.test("item memory separates accounts, and expires after six hours", () => {
  const clock = new ManualClock();
  const memory = itemMemoryOver(new BoundedMemory(clock));
  memory.keepReply("demo", { output: [item] });
  assertEquals(resolved(memory, reference, "other"), reference);
  clock.advance(6 * 3_600_000 - 1);
  assertEquals(resolved(memory, reference), item);
  clock.advance(1);
  assertEquals(resolved(memory, reference), reference);
});

Deno.test("item memory removes the oldest items if it is full", () => {
  const memory = itemMemoryOver(new BoundedMemory(new ManualClock()));
  for (let nth = 0; nth < 4; nth++) {
    memory.keepReply("demo", { output: [{ id: `item_${nth}`, type: "message", text: "x".repeat(20_000_000) }] });
  }
  const kept = [0, 1, 2, 3].filter((nth) =>
    (resolved(memory, { type: "item_reference", id: `item_${nth}` }) as { type: string }).type === "message"
  );
  assertEquals(kept, [1, 2, 3]);
});
