import { assert, assertEquals } from "@std/assert";
import type { Conversation, Part, Turn } from "../../../src/conversation/neutral/conversation.ts";
import type { CachePlaces } from "../../../src/conversation/contract/upstream_format.ts";
import {
  hasOwnMarks,
  plannedMarks,
  type SeenPrefixes,
} from "../../../src/services/texts/prompt_caching/planned_marks.ts";
import { conversationOf } from "../../support/conversations.ts";

const ALL: CachePlaces = { minTokens: 1_000, tools: true, instructions: true, results: true };
const NONE: SeenPrefixes = { tools: false, head: false, whole: false };
const EVERYTHING: SeenPrefixes = { tools: true, head: true, whole: true };
const LONG_HEAD = { tools: 2_000, head: 4_000 };

const text = (value: string): Part => ({ kind: "text", text: value });
const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const model = (...parts: Part[]): Turn => ({ role: "assistant", parts });
const tool = { kind: "function", name: "f", description: null, parameters: null, strict: null } as const;
const call = (callId: string): Part => ({ kind: "tool_call", callId, tool: "f", input: "{}" });
const result = (callId: string): Part => ({
  kind: "tool_result",
  callId,
  tool: "f",
  parts: [{ kind: "text", text: "done" }],
  isError: false,
});

function agent(turns: readonly Turn[]): Conversation {
  return { ...conversationOf(), instructions: [{ kind: "text", text: "You are an agent." }], tools: [tool], turns };
}

function placesOf(conversation: Conversation, seen = NONE, places = ALL, tokens = LONG_HEAD): readonly string[] {
  return plannedMarks(conversation, { places, seen, tokens }).places;
}

Deno.test("a single request is not marked unless its prefix was seen", () => {
  const single = agent([user(text("task"))]);
  assertEquals(placesOf(single), []);
  assertEquals(placesOf(single, { ...NONE, tools: true }), ["tools"]);
  assertEquals(placesOf(single, { ...NONE, tools: true, head: true }), ["tools", "system"]);
  assertEquals(placesOf(single, EVERYTHING), ["tools", "system", "turn 1"]);
});

Deno.test("a later turn is marked where the turn before ended, too", () => {
  const later = agent([user(text("task")), model(call("1")), user(result("1")), model(call("2")), user(result("2"))]);
  assertEquals(placesOf(later), ["tools", "system", "turn 3", "turn 5"]);
  const { conversation } = plannedMarks(later, { places: ALL, seen: NONE, tokens: LONG_HEAD });
  assertEquals(conversation.turns.map(({ parts }) => parts.some((part) => "cache" in part)), [
    false,
    false,
    true,
    false,
    true,
  ]);
});

Deno.test("the mark of the last turn is where the next one has its earlier mark", () => {
  const turns = [user(text("task")), model(call("1")), user(result("1")), model(call("2")), user(result("2"))];
  const before = placesOf(agent(turns.slice(0, 3)));
  assertEquals(before.at(-1), placesOf(agent(turns)).at(-2));
});

Deno.test("a conversation that ends with the model's own text has its last mark before it", () => {
  const prefilled = agent([user(text("one")), model(text("two")), user(text("three")), model(text("It is"))]);
  assertEquals(placesOf(prefilled), ["tools", "system", "turn 1", "turn 3"]);
});

Deno.test("a vendor's places and least length decide", () => {
  const later = agent([user(text("task")), model(call("1")), user(result("1"))]);
  assertEquals(placesOf(later, NONE, { ...ALL, tools: false }), ["system", "turn 1", "turn 3"]);
  assertEquals(placesOf(later, NONE, { ...ALL, results: false }), ["tools", "system", "turn 1"]);
  assertEquals(placesOf(later, NONE, ALL, { tools: 500, head: 900 }), []);
  const long = agent([user(text("task")), model(call("1")), user(text("x".repeat(3_000)))]);
  assertEquals(placesOf(long, NONE, ALL, { tools: 500, head: 900 }), ["turn 3"]);
});

Deno.test("a caller's own mark anywhere leaves the conversation as it is", () => {
  const mark = { cache: { ttl: null } };
  const turns = [user(text("task")), model(call("1")), user(result("1"))];
  const own: Conversation[] = [
    { ...agent(turns), tools: [{ ...tool, ...mark }] },
    { ...agent(turns), instructions: [{ kind: "text", text: "a", ...mark }] },
    agent([user({ kind: "text", text: "task", ...mark }), ...turns.slice(1)]),
    agent([...turns.slice(0, 2), user({ ...result("1"), ...mark } as Part)]),
  ];
  for (const conversation of own) {
    assert(hasOwnMarks(conversation));
    const planned = plannedMarks(conversation, { places: ALL, seen: EVERYTHING, tokens: LONG_HEAD });
    assertEquals(planned, { conversation, places: [] });
  }
});

Deno.test("no conversation gets more than four marks", () => {
  let state = 1;
  const random = (count: number) => (state = Math.imul(state, 1_664_525) + 1_013_904_223 >>> 0) % count;
  for (let index = 0; index < 500; index++) {
    const turns = Array.from({ length: 1 + random(30) }, (): Turn => {
      const parts = Array.from(
        { length: 1 + random(3) },
        () => [text("a"), call("1"), result("1"), text(" ")][random(4)],
      );
      return { role: (["user", "assistant", "system"] as const)[random(3)] ?? "user", parts: parts as Part[] };
    });
    const seen = { tools: random(2) === 0, head: random(2) === 0, whole: random(2) === 0 };
    const { conversation } = plannedMarks(agent(turns), { places: ALL, seen, tokens: LONG_HEAD });
    const marks = JSON.stringify(conversation).split('"cache"').length - 1;
    assert(marks <= 4, `${marks} marks`);
  }
});
