import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { RepeatedText } from "../../src/conversation/parts/reply/repeated_text.ts";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";

const frameOf = (data: unknown, event: string | null = null): Frame => ({ event, data: JSON.stringify(data) });
const chunk = (content: string, rest: object = {}) => frameOf({ id: "a", delta: { role: "x", content }, ...rest });

function learned(frame: Frame, text: string): RepeatedText {
  const repeated = new RepeatedText();
  repeated.learn(frame, "content", text);
  return repeated;
}

Deno.test("RepeatedText reads any text of a frame like the learned one", () => {
  const repeated = learned(chunk("one"), "one");
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1 }), (text) => {
    assertEquals(repeated.textIn(chunk(text)), JSON.parse(JSON.stringify(text)));
  }));
  assertEquals(repeated.textIn({ event: null, data: '{"id":"a","delta":{"role":"x","content":"\\u00e9\\/"}}' }), "é/");
});

Deno.test("RepeatedText reads no other frame", () => {
  const repeated = learned(chunk("one"), "one");
  const others: Frame[] = [
    chunk(""),
    chunk("two", { usage: null }),
    frameOf({ id: "b", delta: { role: "x", content: "two" } }),
    frameOf({ id: "a", delta: { role: "x", content: null } }),
    frameOf({ id: "a", delta: { role: "x", content: ["two"] } }),
    frameOf({ id: "a", delta: { role: "x", content: "two", tool_calls: [] } }),
    frameOf({ id: "a", delta: { role: "x", content: "two", refusal: "x" } }),
    frameOf({ id: "a", delta: { role: "x", content: "two" } }, "error"),
    { event: null, data: '{"id":"a","delta":{"role":"x","content":"tw\no"}}' },
    { event: null, data: '{"id":"a","delta":{"role":"x","content":"two}}' },
    { event: null, data: '{"id":"a","delta":{"role":"x","content":' },
    { event: null, data: "" },
  ];
  for (const frame of others) assertEquals(repeated.textIn(frame), null, frame.data);
});

Deno.test("RepeatedText ignores random padding at the end of a frame, and nothing else there", () => {
  const padded = (content: string, obfuscation: unknown, rest: object = {}) =>
    frameOf({ id: "a", delta: { content }, usage: null, obfuscation, ...rest });
  const repeated = learned(padded("one", "x1"), "one");
  for (const text of ["two", 'a "quoted" text', ',"obfuscation":"x"}', "\\"]) {
    assertEquals(repeated.textIn(padded(text, "")), text);
    assertEquals(repeated.textIn(padded(text, "Az09")), text);
  }
  const others: Frame[] = [
    frameOf({ id: "a", delta: { content: "two" }, usage: null }),
    padded("two", null),
    padded("two", "x", { more: 1 }),
    padded("two", { x: "y" }),
    frameOf({ id: "a", delta: { content: "two" }, usage: { prompt_tokens: 1 }, obfuscation: "x" }),
    { event: null, data: '{"id":"a","delta":{"content":"two"},"usage":null,"obfuscation":"x' },
    { event: null, data: '{"id":"a","delta":{"content":"two"},"usage":null,"obfuscation":"x"' },
    { event: null, data: '{"id":"a","delta":{"content":"two"},"usage":null,"obfuscation":"x\\"}' },
  ];
  for (const frame of others) assertEquals(repeated.textIn(frame), null, frame.data);
});

Deno.test("RepeatedText forgets its frame", () => {
  const repeated = learned(chunk("one"), "one");
  repeated.forget();
  assertEquals(repeated.textIn(chunk("two")), null);
});

Deno.test("RepeatedText does not learn a frame whose text could be elsewhere", () => {
  const frames: [Frame, string][] = [
    [frameOf({ id: "one", delta: { content: "one" } }), "one"],
    [frameOf({ one: 1, delta: { content: "one" } }), "one"],
    [frameOf({ delta: { text: "one" } }), "one"],
    [frameOf({ delta: { content: ["one"] } }), "one"],
    [frameOf({ id: 'a "content":"one" b', delta: { content: "on\u0065" } }), "one"],
    [frameOf({ delta: { content: 'o"ne' } }), 'o"ne'],
    [{ event: null, data: '{"delta":{"content":"\\u006fne"}}' }, "one"],
  ];
  for (const [frame, text] of frames) {
    assertEquals(learned(frame, text).textIn(frame), null, frame.data);
  }
});

Deno.test("RepeatedText stops to learn when no frame is like an earlier one", () => {
  const repeated = new RepeatedText();
  const numbered = (at: number) => chunk("one", { at });
  for (let at = 0; at < 20; at++) repeated.learn(numbered(at), "content", "one");
  assertEquals(repeated.textIn(numbered(19)), null);
});
