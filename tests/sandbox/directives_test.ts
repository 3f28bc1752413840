import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { NO_DIRECTIVES, readDirectives } from "../../src/sandbox/directives.ts";

const read = (prompt: string) => readDirectives(prompt, "openai");

Deno.test("readDirectives() returns a prompt without directives unchanged", () => {
  fc.assert(fc.property(fc.string().filter((text) => !text.includes("[[")), (text) => {
    assertEquals(read(text), { ...NO_DIRECTIVES, text: text.trim() });
  }));
});

Deno.test("readDirectives() removes directives and leaves one space in their place", () => {
  assertEquals(read("Hello [[stall 5]] there [[gap 2]]").text, "Hello there");
});

Deno.test("readDirectives() keeps brackets without a directive", () => {
  const prompts = [
    "see [[a page]]",
    "[[fail 200]]",
    "[[fail abc]]",
    "[[cut]]",
    "[[html now]]",
    "[[stop never]]",
    "a [[ b",
  ];
  for (const prompt of prompts) assertEquals(read(prompt), { ...NO_DIRECTIVES, text: prompt });
});

Deno.test("readDirectives() reads status, wait and message of a failure", () => {
  const fail = (prompt: string) => read(prompt).fail;
  assertEquals(fail("[[fail 503]]"), { status: 503, retryAfterSeconds: null, message: null });
  assertEquals(fail("[[fail 429 7]]"), { status: 429, retryAfterSeconds: 7, message: null });
  assertEquals(fail("[[fail 400 Too odd]]"), { status: 400, retryAfterSeconds: null, message: "Too odd" });
  assertEquals(fail("[[fail 429 7 Slow down]]"), { status: 429, retryAfterSeconds: 7, message: "Slow down" });
});

Deno.test("readDirectives() reads calls in order, with brackets in their arguments", () => {
  const { calls, text } = read('[[tool f {"a":[[1,[2]]]}]] and [[tool g]] and [[tool sh ls -l]]');
  assertEquals(calls, [
    { tool: "f", input: '{"a":[[1,[2]]]}' },
    { tool: "g", input: null },
    { tool: "sh", input: "ls -l" },
  ]);
  assertEquals(text, "and and");
});

Deno.test("readDirectives() reads a text that ends in a bracket", () => {
  assertEquals(read("[[say [x]]]").say, "[x]");
});

Deno.test("readDirectives() reads a text of several lines", () => {
  assertEquals(read("[[say one\ntwo]]").say, "one\ntwo");
});

Deno.test("readDirectives() removes a directive for another vendor without effect", () => {
  assertEquals(read("[[google: fail 503]] hi"), { ...NO_DIRECTIVES, text: "hi" });
  assertEquals(read("[[openai: fail 503]] hi").fail?.status, 503);
});

Deno.test("readDirectives() never throws, whatever the brackets contain", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("[", "]", "{", "}", " ", "tool", "fail", "5", '"') }), (text) => {
      read(text);
    }),
  );
});
