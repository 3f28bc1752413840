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
