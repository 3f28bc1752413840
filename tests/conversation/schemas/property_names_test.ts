import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonSchema } from "../../../src/conversation/neutral/conversation.ts";
import { propertyNamesOf, withPropertyNames } from "../../../src/conversation/schemas/property_names.ts";
import { KeyRenamer, renamedKeys, withRenamedKeys } from "../../../src/conversation/schemas/renamed_keys.ts";

const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;

function wireNamesOf(schema: JsonSchema): ReadonlyMap<string, string> {
  return propertyNamesOf(schema)?.wire ?? new Map();
}

function renamed(schema: JsonSchema): JsonSchema {
  const names = propertyNamesOf(schema);
  return names === null ? schema : withPropertyNames(schema, names);
}

Deno.test("propertyNamesOf() returns null where all names are accepted", () => {
  for (const name of ["a", "A.b-c_9", "x".repeat(64), "constructor", "__proto__"]) {
    assertEquals(propertyNamesOf({ type: "object", properties: Object.fromEntries([[name, {}]]) }), null, name);
  }
  assertEquals(propertyNamesOf({}), null);
  assertEquals(propertyNamesOf({ default: { properties: { "a b": 1 } } }), null, "a value is no schema");
  assertEquals(propertyNamesOf({ properties: { properties: { enum: ["a b"] } } }), null);
});

Deno.test("propertyNamesOf() gives readable names of 64 characters at most", () => {
  const { wire, own } = propertyNamesOf({ properties: { "filter[id]": {}, ["x".repeat(70)]: {}, "": {} } })!;
  assertEquals([...wire.values()].every((name) => ACCEPTED.test(name)), true);
  assert(wire.get("filter[id]")!.startsWith("filter_id__"));
  assertEquals([...own.values()], ["filter[id]", "x".repeat(70), ""]);
});

Deno.test("propertyNamesOf() never gives a name that another property has", () => {
  const [first] = [...wireNamesOf({ properties: { $top: {} } }).values()];
  const schema = { properties: { $top: {}, a: { properties: { [first!]: {} } } } };
  assertNotEquals(wireNamesOf(schema).get("$top"), first);
  fc.assert(fc.property(fc.uniqueArray(fc.string({ unit: "binary" }), { maxLength: 8 }), (names) => {
    const all = renamed({ properties: Object.fromEntries(names.map((name) => [name, {}])) });
    const written = Object.keys(all.properties as object);
    assertEquals(written.length, new Set(names).size);
    assert(written.every((name) => ACCEPTED.test(name)));
  }));
});

Deno.test("withPropertyNames() renames wherever a schema names properties", () => {
  const wire = wireNamesOf({ properties: { "a b": {} } }).get("a b")!;
  const schema = {
    properties: { "a b": { type: "integer" }, c: { properties: { "a b": { $ref: "#/properties/a%20b" } } } },
    required: ["a b", "c"],
    dependentRequired: { "a b": ["c"], c: ["a b"] },
    dependentSchemas: { "a b": { required: ["a b"] } },
    propertyNames: { enum: ["a b", "c"] },
    default: { "a b": 1, d: [{ "a b": "a b" }] },
    description: "a b",
  };
  assertEquals(renamed(schema), {
    properties: {
      [wire]: { type: "integer", title: "a b" },
      c: { properties: { [wire]: { $ref: `#/properties/${wire}` } } },
    },
    required: [wire, "c"],
    dependentRequired: { [wire]: ["c"], c: [wire] },
    dependentSchemas: { [wire]: { required: [wire] } },
    propertyNames: { enum: [wire, "c"] },
    default: { [wire]: 1, d: [{ [wire]: "a b" }] },
    description: "a b",
  });
});

const NAMES = new Map([["x_1", "a b"], ["y", '"\\'], ["z", ""]]);

Deno.test("KeyRenamer gives the same text for any pieces", () => {
  const keys = fc.constantFrom("x_1", "y", "z", "q", 'x"_1', "x_1\\", "{", ":");
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(fc.string(), fc.integer(), fc.array(tie("value")), fc.dictionary(keys, tie("value"))),
  })).value;
  fc.assert(fc.property(value, fc.nat(2), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (json, space, lengths) => {
    const text = JSON.stringify(json, null, space);
    const expected = JSON.stringify(renamedKeys(json, NAMES), null, space);
    assertEquals(withRenamedKeys(text, NAMES), expected);
    const renamer = new KeyRenamer(NAMES);
    let received = "";
    for (let at = 0; at < text.length;) {
      const length = lengths.next().value;
      received += renamer.push(text.slice(at, at + length));
      at += length;
    }
    assertEquals(received + renamer.end(), expected);
  }));
});

Deno.test("KeyRenamer passes text that is not JSON, and finds keys with escapes", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    assertEquals(withRenamedKeys(text, new Map([["never there", ""]])), text);
  }));
  assertEquals(withRenamedKeys('{"\\u0078_1":"x_1","q":{"x_1"', NAMES), '{"a b":"x_1","q":{"a b"');
  assertEquals(withRenamedKeys('{"x_1', NAMES), '{"x_1');
});

Deno.test("KeyRenamer does not hold a key that is longer than any name", () => {
  const renamer = new KeyRenamer(NAMES);
  assertEquals(renamer.push('{"'), "{");
  const long = "k".repeat(1_000);
  assertEquals(renamer.push(long), `"${long}`);
  assertEquals(renamer.push('":1,"x_1":2}'), '":1,"a b":2}');
});
