import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type JsonScan, scanJson, spliceJson } from "../../src/platform/lib/json/json.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const scanText = (text: string) => scanJson(bytesOf(text));
const valueOf = (text: string, scan: JsonScan, key: string) => {
  const member = scan.members.find((member) => member.key === key)!;
  return textOf(bytesOf(text).subarray(member.valueStart, member.valueEnd));
};

/** The JSON text of an object, with spaces wherever the grammar allows some. */
const objectText = fc.tuple(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), fc.constantFrom(0, 1, "\t"))
  .map(([value, indent]) => ({ value, text: ` ${JSON.stringify(value, null, indent)}\r\n` }));

Deno.test("scanJson() finds every member of the top object and the position of its value", () => {
  fc.assert(fc.property(objectText, ({ value, text }) => {
    const scan = scanText(text);
    const bytes = bytesOf(text);
    assertEquals(scan.duplicate, null);
    assertEquals(textOf(bytes.subarray(scan.objectEnd)).trimEnd(), "}");
    const found = scan.members.map((member) => [
      member.key,
      JSON.parse(textOf(bytes.subarray(member.valueStart, member.valueEnd))),
      bytes[member.keyStart],
    ]);
    const parsed = JSON.parse(text);
    assertEquals(found, Object.keys(value).map((key) => [key, parsed[key], 0x22]));
  }));
});

Deno.test("scanJson() counts depth as the parsed value has it", () => {
  const depthOf = (value: unknown): number =>
    typeof value !== "object" || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
    assertEquals(scanText(JSON.stringify(value)).depth, depthOf(value));
  }));
});

Deno.test("scanJson() names the first duplicate member, also with escapes and more than sixteen members", () => {
  assertEquals(scanText('{"model":"a","n":1,"model":"b"}').duplicate, "model");
  assertEquals(scanText('{"model":"a","mod\\u0065l":"b"}').duplicate, "model");
  assertEquals(scanText('{"é":1,"\\u00e9":2}').duplicate, "é");
  assertEquals(scanText('{"__proto__":1,"__proto__":2}').duplicate, "__proto__");
  const many = Array.from({ length: 40 }, (_, index) => `"k${index}":{}`).join(",");
  assertEquals(scanText(`{${many}}`).duplicate, null);
  assertEquals(scanText(`{${many},"k39":0}`).duplicate, "k39");
  assertEquals(scanText('{"a":{"x":1,"x":2},"b":["a","a"]}').duplicate, null);
});

Deno.test("scanJson() treats brackets, commas and quotes inside strings as text", () => {
  const text = String.raw`{"a":"x\"},{[\\","b" : [ "]" ] , "c\\":1}`;
  const scan = scanText(text);
  assertEquals(scan.members.map((member) => member.key), ["a", "b", "c\\"]);
  assertEquals(valueOf(text, scan, "b"), '[ "]" ]');
  assertEquals(scan.depth, 2);
});

Deno.test("scanJson() does not crash on any bytes", () => {
  const sign = fc.constantFrom(...'{}[]:,"\\ \n01ae-.', "\ud800", "é");
  fc.assert(fc.property(fc.array(sign).map((signs) => signs.join("")), (text) => void scanText(text)));
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void scanJson(bytes)));
});

Deno.test("scanJson() reads a hundred thousand nested brackets", () => {
  assertEquals(scanText("[".repeat(100_000)).depth, 100_000);
  assertEquals(scanText('{"a":'.repeat(100_000)).depth, 100_000);
});

Deno.test("scanJson() rejects an object of too many members", () => {
  const text = `{${Array.from({ length: 10_001 }, (_, index) => `"${index}":0`).join(",")}}`;
  assertThrows(() => scanText(text), RangeError, "10000 members");
});

Deno.test("spliceJson() sets and removes the given members and keeps every other value", () => {
  const edits = fc.record({
    set: fc.dictionary(fc.string(), fc.jsonValue()),
    remove: fc.array(fc.string()),
    removeIndexes: fc.array(fc.nat(8)),
    setIndexes: fc.array(fc.nat(8)),
  });
  fc.assert(fc.property(objectText, edits, ({ text }, { set, remove, removeIndexes, setIndexes }) => {
    const expected = new Map(Object.entries(JSON.parse(text)));
    const keys = [...expected.keys()];
    const edits = new Map(Object.entries(set));
    for (const index of setIndexes) if (keys[index] !== undefined) edits.set(keys[index], { index });
    const gone = [...remove, ...removeIndexes.flatMap((index) => keys[index] ?? [])];
    for (const key of gone) expected.delete(key);
    for (const [key, value] of edits) expected.set(key, JSON.parse(JSON.stringify(value)));

    const bytes = bytesOf(text);
    const spliced = textOf(
      spliceJson(bytes, scanJson(bytes), { set: Object.fromEntries(edits), remove: gone }).joined(),
    );
    assertEquals(JSON.parse(spliced), Object.fromEntries(expected));
    assertEquals(scanText(spliced).duplicate, null);
  }));
});

Deno.test("spliceJson() keeps every byte outside the edited members", () => {
  const cases: [string, Parameters<typeof spliceJson>[2], string][] = [
    [
      '{ "seed": 9007199254740993, "model" : "a" }',
      { set: { model: "bb" } },
      '{ "seed": 9007199254740993, "model" : "bb" }',
    ],
    ['{"a":1e400,\n "b":2, "c":3 }', { remove: ["b"] }, '{"a":1e400,\n "c":3 }'],
    ['{"a":1, "b":2 , "c":3 }', { remove: ["b", "c"] }, '{"a":1 }'],
    ['{"a":1, "b":2 , "c":3 }', { remove: ["a", "b"] }, '{"c":3 }'],
    ['{ "a":1 }', { remove: ["a"] }, "{  }"],
    ["{ }", { set: { a: 1 } }, '{ "a":1}'],
    ['{ "a":1 }', { remove: ["a"], set: { b: null, c: "é" } }, '{ "b":null,"c":"é" }'],
    ['{"a":"\\u00e9"}', { set: { b: [1] }, remove: ["none"] }, '{"a":"\\u00e9","b":[1]}'],
    ['{"a":1,"b":2}', { set: { a: undefined } }, '{"b":2}'],
    ['{"a":1}', { set: { a: 2 }, remove: ["a"] }, '{"a":2}'],
    ['{"a":1}', {}, '{"a":1}'],
  ];
  for (const [text, edits, expected] of cases) {
    const bytes = bytesOf(text);
    assertEquals(textOf(spliceJson(bytes, scanJson(bytes), edits).joined()), expected);
  }
});

Deno.test("spliceJson() rejects a text that is no complete object", () => {
  for (const text of ["[1]", "1", "", '{"a":1', '{"a":1,"a":2}']) {
    const bytes = bytesOf(text);
    assertThrows(() => spliceJson(bytes, scanJson(bytes), { set: { a: 1 } }), RangeError);
  }
});

Deno.test("scanJson() reads a view into a larger buffer", () => {
  const buffer = bytesOf('xx{"\\u0061é":1}yy');
  const view = buffer.subarray(2, buffer.length - 2);
  const scan = scanJson(view);
  assertEquals(scan.members[0]?.key, "aé");
  assertEquals(textOf(spliceJson(view, scan, { set: { z: 1 } }).joined()), '{"\\u0061é":1,"z":1}');
  assert(scan.objectEnd > 0);
  assertLess(scan.objectEnd, view.length);
});
