import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type JsonMistake, jsonMistakeIn } from "../../src/platform/lib/json/json_mistake.ts";

/** Returns the syntax error of a text; null where `JSON.parse` accepts it. */
function mistakeIn(text: string): JsonMistake | null {
  try {
    JSON.parse(text);
    return null;
  } catch (thrown) {
    assert(thrown instanceof SyntaxError);
    const mistake = jsonMistakeIn(text, thrown);
    assert(mistake !== null, `No position in: ${thrown.message}`);
    return mistake;
  }
}

/** Whether `JSON.parse` rejects a text for another reason than an early end. */
function isWrongAlready(text: string): boolean {
  const mistake = mistakeIn(text);
  return mistake !== null && mistake.found !== "the end of the text";
}

Deno.test("jsonMistakeIn() names the first character that is wrong", () => {
  const sign = fc.constantFrom(...'{}[]:,"\\ \n\t01-+.eEu', "true", "null", "fals", '"a"', "\u0000", "é", "undefined");
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 30 }).map((signs) => signs.join("")), (text) => {
      const mistake = mistakeIn(text);
      if (mistake === null) return;
      assert(!isWrongAlready(text.slice(0, mistake.position)), "what is before it can go on");
      if (mistake.found === "the end of the text") assertEquals(mistake.position, text.length);
      else assert(isWrongAlready(text.slice(0, mistake.position + 1)), "what ends with it cannot");
    }),
    { numRuns: 3000 },
  );
});

Deno.test("jsonMistakeIn() returns the position of the syntax error", () => {
  const cases: [string, number, number, number][] = [
    ['{"a":1,}', 7, 1, 8],
    ['{"a":1} x', 8, 1, 9],
    ["{'a':1}", 1, 1, 2],
    ['{"a":\n  tru}', 11, 2, 6],
    ['{"a":"x\\q"}', 8, 1, 9],
    ["[1 2]", 3, 1, 4],
    ["[-]", 2, 1, 3],
    ["[01]", 2, 1, 3],
    ["undefined", 0, 1, 1],
    ['{"model":"a/b","input":undefined}', 23, 1, 24],
    ['{"model":"a/b","input":[1,2,3],"n":]}', 35, 1, 36],
  ];
  for (const [text, position, line, column] of cases) {
    assertEquals(mistakeIn(text), { position, line, column, found: "an unexpected character" });
  }
  for (const text of ["", "{", '{"a', '{"a"', '{"a":', "[1,", '"\\', "tru", "  "]) {
    assertEquals(mistakeIn(text)?.found, "the end of the text");
    assertEquals(mistakeIn(text)?.position, text.length);
  }
});

Deno.test("jsonMistakeIn() returns no position when the text quoted by the message occurs twice", () => {
  const text = "[[0,1,2,3,4,5,6,7,8,9,u,0,1,2,3,4], [0,1,2,3,4,5,6,7,8,9,u,0,1,2,3,4]]";
  assertEquals(mistakeIn(text.slice(0, 35))?.position, 22);
  try {
    JSON.parse(text);
  } catch (thrown) {
    assert(thrown instanceof SyntaxError);
    assertEquals(jsonMistakeIn(text, thrown), null);
  }
});

Deno.test("jsonMistakeIn() finds the syntax error in deep nesting and long strings", () => {
  assertEquals(mistakeIn("[".repeat(200_000))?.position, 200_000);
  assertEquals(mistakeIn(`["${"a\\n".repeat(500_000)}`)?.found, "the end of the text");
});
