import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { JsonCursor } from "../../src/platform/lib/json/json_cursor.ts";

const ENCODER = new TextEncoder();
const cursorOf = (text: string) => new JsonCursor(ENCODER.encode(text));

/** JSON texts of any value, with and without space. */
const json = fc.tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1)).map(([value, space]) =>
  JSON.stringify(value, null, space)
);

Deno.test("JsonCursor skips exactly one value, and parses it as JSON.parse() does", () => {
  fc.assert(fc.property(json, json, (first, second) => {
    const cursor = cursorOf(`[ ${first} , ${second}\n]`);
    const texts: string[] = [];
    for (const _ of cursor.items()) texts.push(new TextDecoder().decode(cursor.skip()));
    cursor.end();
    assertEquals(texts, [first, second]);
    assertEquals(cursorOf(first).value(), JSON.parse(first));
  }));
});

Deno.test("JsonCursor yields the members of an object in their order", () => {
  fc.assert(fc.property(fc.array(fc.tuple(fc.string(), fc.jsonValue())), (members) => {
    const text = `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
    const cursor = cursorOf(text);
    const read: [string, unknown][] = [];
    for (const name of cursor.members()) read.push([name, cursor.value()]);
    cursor.end();
    assertEquals(read, members.map(([name, value]) => [name, JSON.parse(JSON.stringify(value))]));
  }));
});

Deno.test("JsonCursor refuses every text that ends early", () => {
  fc.assert(fc.property(fc.object({ maxDepth: 3 }), fc.nat(), (value, cut) => {
    const text = JSON.stringify(value);
    const short = text.slice(0, cut % text.length);
    assertThrows(() => {
      const cursor = cursorOf(short);
      for (const _ of cursor.members()) cursor.skip();
    }, SyntaxError);
  }));
});

Deno.test("JsonCursor refuses what no JSON is", () => {
  for (const text of ["", "]", "}", "[", '"', '"\\"', "{", "[[[", "[".repeat(100), ",", ":"]) {
    assertThrows(() => cursorOf(text).skip(), SyntaxError);
  }
  const cursor = cursorOf("1 2");
  cursor.skip();
  assertThrows(() => cursor.end(), SyntaxError);
});
