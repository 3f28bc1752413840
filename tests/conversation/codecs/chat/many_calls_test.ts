import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import { atLeast } from "../../../support/items.ts";

Deno.test("readRequest() reads a hundred thousand calls of one id, each with its result, in one pass", () => {
  const many = Array.from({ length: 100_000 }, (_, nth) => nth);
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", tool_calls: many.map(() => call) },
    ...many.map((nth) => ({ role: "tool", tool_call_id: "c", content: String(nth) })),
  ];
  const [, calls, results] = atLeast(readChecked(chat.caller, { model: "m", messages }).turns, 3);
  const ids = (parts: typeof calls.parts) => parts.map((part) => "callId" in part ? part.callId : "");
  assertEquals(new Set(ids(calls.parts)).size, many.length);
  assertEquals(ids(calls.parts).slice(0, 3), ["c", "c_2", "c_3"]);
  assertEquals(ids(results.parts).at(-1), `c_${many.length}`);
});
