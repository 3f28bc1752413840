import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals } from "@std/assert";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import { atLeast } from "../../../support/items.ts";

const MANY = Array.from({ length: 100_000 }, (_, nth) => nth);

function readTurns(input: readonly unknown[]) {
  return readChecked(responses.caller, { model: "m", input }).turns;
}

const call = (nth: number) => ({ type: "function_call", call_id: `c${nth}`, name: "f", arguments: "{}" });
const result = (nth: number) => ({ type: "function_call_output", call_id: `c${nth}`, output: String(nth) });

Deno.test("readRequest() reads a hundred thousand calls, then their results before a text, in one pass", () => {
  const text = { role: "user", content: "and?" };
  const [calls, results] = atLeast(readTurns([...MANY.map(call), text, ...MANY.map(result)]), 2);
  assertEquals(calls.parts.length, MANY.length);
  assertEquals(results.parts.length, MANY.length + 1);
  assertEquals(results.parts.at(-1)?.kind, "text");
});

Deno.test("readRequest() reads results that follow a hundred thousand turns in one pass", () => {
  const system = { role: "system", content: "s" };
  const turns = readTurns([...MANY.flatMap((nth) => [call(nth), system]), ...MANY.map(result)]);
  assertEquals(turns.length, 3 * MANY.length);
  assertEquals(turns.slice(0, 4).map(({ role }) => role), ["assistant", "user", "system", "assistant"]);
});

Deno.test("readRequest() reads a hundred thousand tools of an item, and signatures after many calls, in one pass", () => {
  const tools = MANY.map((nth) => ({ type: "function", name: `tool_${nth}`, parameters: { type: "object" } }));
  const { tools: read } = readChecked(responses.caller, {
    model: "m",
    input: [{ type: "additional_tools", tools }, { role: "user", content: "x" }],
  });
  assertEquals(read.length, MANY.length);
});
