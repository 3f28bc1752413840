import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { findSyntaxMistake } from "../../src/lib/json_syntax.ts";

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

Deno.test("findSyntaxMistake() finds none exactly where JSON.parse accepts", () => {
  const sign = fc.constantFrom(...'{}[]:,"\\ \n\t01-+.eEu', "true", "null", "fals", '"a"', "\u0000", "é", "\ud800");
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 12 }).map((signs) => signs.join("")), (text) => {
      assertEquals(findSyntaxMistake(text) === null, isJson(text));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("findSyntaxMistake() accepts every JSON text and finds a change of one character as JSON.parse does", () => {
  const change = fc.record({ at: fc.nat(), sign: fc.constantFrom("", ...'{}[]:,"\\x 0') });
  fc.assert(
    fc.property(fc.json(), change, (text, { at, sign }) => {
      assertEquals(findSyntaxMistake(text), null);
      const index = at % text.length;
      const changed = text.slice(0, index) + sign + text.slice(index + 1);
      assertEquals(findSyntaxMistake(changed) === null, isJson(changed));
    }),
    { numRuns: 1000 },
  );
});

Deno.test("findSyntaxMistake() tells where the text goes wrong", () => {
  const cases: [string, number, number, number][] = [
    ['{"a":1,}', 7, 1, 8],
    ['{"a":1} x', 8, 1, 9],
    ["{'a':1}", 1, 1, 2],
    ['{"a":\n  tru}', 11, 2, 6],
    ['{"a":"x\\q"}', 7, 1, 8],
    ["[1 2]", 3, 1, 4],
    ["[-]", 2, 1, 3],
    ["[01]", 2, 1, 3],
  ];
  for (const [text, position, line, column] of cases) {
    assertEquals(findSyntaxMistake(text), { position, line, column, found: "an unexpected character" });
  }
  for (const text of ["", "{", '{"a', '{"a"', '{"a":', "[1,", '"\\', "tru", "  "]) {
    assertEquals(findSyntaxMistake(text)?.found, "the end of the text");
    assertEquals(findSyntaxMistake(text)?.position, text.length);
  }
});

Deno.test("findSyntaxMistake() walks deep nests and long strings without recursion", () => {
  assertEquals(findSyntaxMistake("[".repeat(200_000))?.position, 200_000);
  assertEquals(findSyntaxMistake(`["${"a\\n".repeat(500_000)}`)?.found, "the end of the text");
});
