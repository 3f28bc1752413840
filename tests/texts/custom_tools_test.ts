import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import { customToolsOf, customToolUnwrapper, unwrappedPart } from "../../src/services/texts/relay/custom_tools.ts";
import { conversationOf } from "../support/conversations.ts";
import { itemAt } from "../support/items.ts";

const CUSTOM = new Set(["patch"]);

/** Returns the resulting text of a stream's call. */
function streamed(tool: string, pieces: readonly string[]): { custom: boolean; text: string; deltas: number } {
  const unwrap = customToolUnwrapper(CUSTOM);
  const events: ReplyEvent[] = [
    { type: "part-start", index: 3, part: { kind: "tool_call", callId: "c", tool } },
    ...pieces.filter((text) => text !== "").map((text): ReplyEvent => ({ type: "part-delta", index: 3, text })),
    { type: "part-end", index: 3 },
  ];
  const out = events.flatMap(unwrap);
  const start = itemAt(out, 0);
  const deltas = out.flatMap((event) => event.type === "part-delta" ? [event.text] : []);
  const custom = start.type === "part-start" && start.part.kind === "tool_call" && start.part.custom === true;
  return { custom, text: deltas.join(""), deltas: deltas.length };
}

Deno.test("customToolsOf() returns the names of tools that take free text", () => {
  const tools = [
    { kind: "custom", name: "patch", description: null, format: null },
    { kind: "function", name: "look", description: null, parameters: null, strict: null },
  ] as const;
  assertEquals(customToolsOf(conversationOf({ tools })), new Set(["patch"]));
});

Deno.test("customToolUnwrapper() returns the whole free text of a call, wherever its JSON is split", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (text, place) => {
      const json = JSON.stringify({ input: text });
      const cut = place % json.length;
      const call = streamed("patch", [json.slice(0, cut), json.slice(cut)]);
      assertEquals(call, { custom: true, text, deltas: text === "" ? 0 : 1 });
      const part = { kind: "tool_call", callId: "c", tool: "patch", input: json } as const;
      assertEquals(unwrappedPart(part, CUSTOM), { ...part, custom: true, input: text });
    }),
  );
});

Deno.test("customToolUnwrapper() leaves any other input unchanged", () => {
  for (const input of ["{}", "null", "[1]", '{"input":5}', "not JSON", '"text"']) {
    assertEquals(streamed("patch", [input]).text, input);
  }
});

Deno.test("customToolUnwrapper() passes other calls and parts unchanged", () => {
  assertEquals(streamed("look", ['{"input":', '"x"}']), { custom: false, text: '{"input":"x"}', deltas: 2 });
  const text = { kind: "text", text: "t" } as const;
  assertEquals(unwrappedPart(text, CUSTOM), text);
});
