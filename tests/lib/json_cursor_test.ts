import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { JsonCursor } from "../../src/platform/lib/json/json_cursor.ts";

const ENCODER = new TextEncoder();
const cursorOf = (text: string) => new JsonCursor(ENCODER.encode(text));

/** JSON texts of any value, with and without space. */
const json = fc.tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1)).map(([value, space]) =>
  JSON.stringify(value, null, space)
);

Deno.test("JsonCursor skips exactly one value, and parses it as JSON.parse() does", () => {
  return fc.assert(fc.asyncProperty(json, json, async (first, second) => {
    const cursor = cursorOf(`[ ${first} , ${second}\n]`);
    const texts: string[] = [];
    for (const _ of cursor.items()) texts.push(new TextDecoder().decode(await cursor.skip()));
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
  return fc.assert(fc.asyncProperty(fc.object({ maxDepth: 3 }), fc.nat(), async (value, cut) => {
    const text = JSON.stringify(value);
    const short = text.slice(0, cut % text.length);
    await assertRejects(async () => {
      const cursor = cursorOf(short);
      for (const _ of cursor.members()) await cursor.skip();
    }, SyntaxError);
  }));
});

Deno.test("JsonCursor refuses what no JSON is", async () => {
  const long = (part: string) => part.repeat(1_100_000);
  const texts = ["", "]", "}", "[", '"', '"\\"', "{", "[[[", "[".repeat(100), ",", ":", long(" "), long("1")];
  for (const text of texts) {
    await assertRejects(() => cursorOf(text).skip(), SyntaxError);
    assertThrows(() => cursorOf(text).value(), SyntaxError);
  }
  const cursor = cursorOf("1 2");
  await cursor.skip();
  assertThrows(() => cursor.end(), SyntaxError);
});

Deno.test("JsonCursor yields to others after each megabyte, wherever that ends", async () => {
  const parts = ["a", '\\"', "\\\\"];
  const values = [
    ...parts.map((part) => `"${part.repeat(4_000_000 / part.length)}"`),
    `[${"1,".repeat(2_000_000)}1]`,
    `{${'"a":[ ],'.repeat(500_000)}"a":1}`,
    `[${`${" ".repeat(900_000)}1,`.repeat(4)}1]`,
  ];
  for (const value of values) {
    const pauses: number[] = [];
    const cursor: JsonCursor = new JsonCursor(ENCODER.encode(value), () => {
      pauses.push(cursor.at);
      return Promise.resolve();
    });
    assertEquals((await cursor.skip()).length, value.length);
    assert(pauses.length >= 2, `${pauses.length} pauses`);
    pauses.forEach((at, nth) => assert(at - (pauses[nth - 1] ?? 0) <= 2_000_000));
  }
});

Deno.test("JsonCursor yields to others sooner if values are parsed", async () => {
  const value = `{${Array.from({ length: 1_000 }, (_, nth) => `"name-${nth}":1`).join()}}`;
  let pauses = 0;
  const cursor = new JsonCursor(ENCODER.encode(`[${Array(40).fill(value)}]`), () => {
    pauses++;
    return Promise.resolve();
  });
  for (const _ of cursor.items()) {
    cursor.value();
    await cursor.pause();
  }
  assert(pauses >= 8, `${pauses} pauses`);
});
