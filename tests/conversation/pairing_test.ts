import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Part, ToolCallPart, ToolResultPart, Turn } from "../../src/conversation/neutral/conversation.ts";
import { sanitizeName } from "../../src/conversation/parts/request/sanitized_name.ts";
import { orphanAsText, pairsOf } from "../../src/conversation/parts/request/pairing.ts";

const call = (callId: string): ToolCallPart => ({ kind: "tool_call", callId, tool: "look", input: "{}" });
const result = (callId: string, isError = false): ToolResultPart => ({
  kind: "tool_result",
  callId,
  tool: "look",
  parts: [],
  isError,
});
const own = (id: string) => id;

function assistant(...parts: Part[]): Turn {
  return { role: "assistant", parts };
}

function user(...parts: Part[]): Turn {
  return { role: "user", parts };
}

Deno.test("pairsOf() matches a result to the latest turn with a call of its id, first call first", () => {
  const [early, first, second] = [call("a"), call("a"), call("a")];
  const [one, two] = [result("a"), result("a")];
  const { calls, orphans } = pairsOf([assistant(early), assistant(first, second), user(one, two)], own);
  assertEquals([early, first, second].map((made) => calls.get(made)?.result), [null, one, two]);
  assertEquals([early, first, second].map((made) => calls.get(made)?.id), ["a", "a_2", "a_3"]);
  assertEquals(orphans.size, 0);
});

Deno.test("pairsOf() never matches a result to a later call", () => {
  const [made, early] = [call("a"), result("a")];
  const { calls, orphans } = pairsOf([user(early), assistant(made)], own);
  assertEquals(calls.get(made)?.result, null);
  assertEquals([...orphans], [early]);
});

Deno.test("pairsOf() gives every call a unique id and keeps every result", () => {
  const part = fc.tuple(fc.constantFrom("a", "b", "a_2"), fc.boolean()).map(([id, made]) =>
    made ? call(id) : result(id)
  );
  fc.assert(fc.property(fc.array(fc.array(part, { maxLength: 4 }), { maxLength: 5 }), (turns) => {
    const { calls, orphans } = pairsOf(turns.map((parts) => user(...parts)), (id) => sanitizeName(id, 12));
    const ids = [...calls.values()].map(({ id }) => id);
    assertEquals(new Set(ids).size, ids.length);
    const answered = [...calls.values()].filter((pair) => pair.result !== null).length;
    const results = turns.flat().filter(({ kind }) => kind === "tool_result").length;
    assertEquals(answered + orphans.size, results);
  }));
});

Deno.test("orphanAsText() names the tool of the result, and whether it failed", () => {
  const [said] = orphanAsText(result("a", true));
  assertEquals(said, { kind: "text", text: "Error of an earlier call of the tool look:" });
  assertEquals(orphanAsText({ ...result("a"), tool: null })[0], {
    kind: "text",
    text: "Result of an earlier tool call:",
  });
});
