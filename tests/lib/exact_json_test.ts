import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  hasInexactNumber,
  isNestedDeeperThan,
  jsonTextOf,
  parseExactJson,
} from "../../src/platform/lib/json/exact_json.ts";

/** Numbers as JSON text, in every spelling. Source: RFC 8259, 6. */
const number = fc.tuple(
  fc.constantFrom("", "-"),
  fc.oneof(fc.constant("0"), fc.stringMatching(/^[1-9][0-9]{0,24}$/)),
  fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,24}$/)),
  fc.oneof(fc.constant(""), fc.stringMatching(/^[eE][-+]?[0-9]{1,3}$/)),
).map((pieces) => pieces.join(""));
const string = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom('a"', "\\", '1.0"\\', ": 1.0, 2e5"))
  .map((value) => JSON.stringify(value));
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, number, string, fc.constantFrom("true", "null"), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
  object: fc.uniqueArray(fc.tuple(string, tie("value")), { maxLength: 4, selector: ([name]) => name }).map((members) =>
    `{${members.map(([name, value]) => `${name}:${value}`).join(",")}}`
  ),
})).value as fc.Arbitrary<string>;

/** The text as it is written again: escapes and the order of numbers as names change, digits do not. */
const numbersIn = (text: string) =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").match(/-?[0-9][0-9.eE+-]*/g)?.sort() ?? [];

Deno.test("parseExactJson() keeps the digits of every number", () => {
  fc.assert(fc.property(json, (text) => {
    assertEquals(numbersIn(jsonTextOf(parseExactJson(text, true))), numbersIn(text));
  }));
});

Deno.test("parseExactJson() gives the same as JSON.parse where nothing is exact", () => {
  fc.assert(fc.property(json, (text) => assertEquals(parseExactJson(text, () => false), JSON.parse(text))));
});

Deno.test("parseExactJson() refuses what JSON.parse refuses", () => {
  for (
    const text of ["", "{1.0:2}", "{1.0 :2}", "01.0", "1.", "[1.0", '{"a":1.0,}', '"1.0', "1.0 2.0", "-", ".5", "1.0x"]
  ) {
    assertThrows(() => JSON.parse(text), SyntaxError);
    assertThrows(() => parseExactJson(text, true), SyntaxError);
  }
});

Deno.test("parseExactJson() keeps digits within exact members only", () => {
  const text = '{"temperature":1.0,"input":{"a":[1.0,{"__proto__":2.50}]},"list":[{"b":1.0}]}';
  const value = parseExactJson(text, (name) => name === "input") as { temperature: unknown };
  assertEquals(value.temperature, 1);
  assertEquals(JSON.stringify(value), '{"temperature":1,"input":{"a":[1.0,{"__proto__":2.50}]},"list":[{"b":1}]}');
});

Deno.test("hasInexactNumber() looks at numbers alone", () => {
  assert(!hasInexactNumber('{"a":"1.0, 2e5","b":9007199254740991,"c":[-1.5,0]}'));
  for (const inexact of ["9007199254740993", "1.0", "1e5", "-0", "0.1000"]) assert(hasInexactNumber(`[${inexact}]`));
});

Deno.test("jsonTextOf() writes a value of any depth", () => {
  const deep = `${'{"a":['.repeat(20_000)}${"]}".repeat(20_000)}`;
  const value = JSON.parse(deep);
  assertEquals(jsonTextOf(value), deep);
  assert(isNestedDeeperThan(value, 39_000) && !isNestedDeeperThan(JSON.parse("[[[]]]"), 3));
});
