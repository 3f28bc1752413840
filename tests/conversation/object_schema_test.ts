import { assertEquals } from "@std/assert";
import { functionSchema, objectSchema, plainSchema } from "../../src/conversation/object_schema.ts";

Deno.test("objectSchema() is an object at the top, whatever came", () => {
  const empty = { type: "object", properties: {} };
  for (const schema of [null, {}, { type: "object" }, { type: "string" }]) assertEquals(objectSchema(schema), empty);
  const plain = { type: "object", properties: { a: { type: ["string", "null"] } }, required: ["a"], $schema: "x" };
  assertEquals(objectSchema(plain), plain);
  const choice = { anyOf: [{ properties: { a: {} } }] };
  assertEquals(objectSchema(choice), { ...empty, ...choice });
});

Deno.test("plainSchema() leaves an object alone and calls no schema loose that says as much as before", () => {
  const plain = { type: "object", properties: { a: { anyOf: [{}, {}] } }, required: ["a"] };
  assertEquals(plainSchema(plain), { schema: plain, isLoose: false });
  for (const schema of [null, {}, { type: ["object", "null"] }]) assertEquals(plainSchema(schema).isLoose, false);
  assertEquals(plainSchema({ type: "array" }), { schema: { type: "object", properties: {} }, isLoose: true });
});

Deno.test("plainSchema() joins shapes at the top and requires what all of them require", () => {
  const branch = (name: string) => ({ properties: { [name]: { type: "string" }, id: {} }, required: ["id", name] });
  assertEquals(plainSchema({ anyOf: [branch("a"), branch("b")], description: "d" }), {
    schema: {
      description: "d",
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, id: {} },
      required: ["id"],
    },
    isLoose: true,
  });
  assertEquals(plainSchema({ type: "object", allOf: [branch("a"), branch("b")] }).schema.required, ["id", "a", "b"]);
});

Deno.test("plainSchema() lets a property be as any shape describes it", () => {
  const shape = (kind: string) => ({ type: "object", properties: { kind: { const: kind } }, required: ["kind"] });
  assertEquals(plainSchema({ oneOf: [shape("a"), shape("b"), shape("a"), { type: "null" }] }).schema, {
    type: "object",
    properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] } },
    required: ["kind"],
  });
});

Deno.test("plainSchema() finds the shapes that a choice refers to, and ends where they refer to themselves", () => {
  const $defs = {
    A: { properties: { a: {} } },
    B: { allOf: [{ $ref: "#/$defs/A" }, { properties: { b: {} }, required: ["b"] }] },
    Self: { anyOf: [{ $ref: "#/$defs/Self" }, { properties: { self: {} } }] },
  };
  const refs = (...names: string[]) => names.map((name) => ({ $ref: `#/$defs/${name}` }));
  const { schema } = plainSchema({ oneOf: refs("B", "Self", "Gone", "constructor"), $defs });
  assertEquals(schema, { type: "object", properties: { a: {}, b: {}, self: {} }, $defs });
});

Deno.test("functionSchema() leaves out what the author refuses at the top beside choices", () => {
  const plain = { type: "object", properties: { a: {} }, required: ["a"] };
  assertEquals(functionSchema({ ...plain, enum: [{ a: 1 }], not: { required: ["b"] } }), {
    schema: plain,
    isLoose: true,
  });
  assertEquals(plainSchema({ ...plain, not: {} }), { schema: { ...plain, not: {} }, isLoose: false });
});

Deno.test("plainSchema() ends soon for references that multiply at every step", () => {
  const again = { $ref: "#/$defs/a" };
  const schema = {
    anyOf: [again],
    $defs: { a: { properties: { x: { type: "string" } }, anyOf: Array.from({ length: 30 }, () => again) } },
  };
  const { schema: plain, isLoose } = plainSchema(schema);
  assertEquals([plain.type, isLoose, plain.properties], ["object", true, { x: { type: "string" } }]);
});

Deno.test("plainSchema() ends soon for properties that grow at every step", () => {
  const branch = (next: number, nth: number) => ({ $ref: `#/$defs/s${next}`, properties: { x: { const: nth } } });
  const step = (next: number) => ({ anyOf: Array.from({ length: 12 }, (_, nth) => branch(next, nth)) });
  const $defs = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`s${at}`, step(at + 1)]));
  const schema = { anyOf: [{ $ref: "#/$defs/s0" }], $defs };
  const written = JSON.stringify(plainSchema(schema).schema.properties).length;
  assertEquals(written < 16 * JSON.stringify(schema).length, true);
});
