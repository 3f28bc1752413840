import { assertEquals } from "@std/assert";
import { objectSchema, plainSchema } from "../../../src/conversation/schemas/object_schema.ts";

Deno.test("objectSchema() always returns an object at the top", () => {
  const empty = { type: "object", properties: {} };
  for (const schema of [null, {}, { type: "object" }, { type: "string" }]) assertEquals(objectSchema(schema), empty);
  const plain = { type: "object", properties: { a: { type: ["string", "null"] } }, required: ["a"], $schema: "x" };
  assertEquals(objectSchema(plain), plain);
  const choice = { anyOf: [{ properties: { a: {} } }] };
  assertEquals(objectSchema(choice), { ...empty, ...choice });
});

Deno.test("plainSchema() keeps an object and reports only less strict schemas as relaxed", () => {
  const plain = { type: "object", properties: { a: { anyOf: [{}, {}] } }, required: ["a"] };
  assertEquals(plainSchema(plain), { schema: plain, isRelaxed: false });
  for (const schema of [null, {}, { type: ["object", "null"] }]) assertEquals(plainSchema(schema).isRelaxed, false);
  assertEquals(plainSchema({ type: "array" }), { schema: { type: "object", properties: {} }, isRelaxed: true });
});

Deno.test("plainSchema() joins alternatives at the top and requires what all of them require", () => {
  const branch = (name: string) => ({ properties: { [name]: { type: "string" }, id: {} }, required: ["id", name] });
  assertEquals(plainSchema({ anyOf: [branch("a"), branch("b")], description: "d" }), {
    schema: {
      description: "d",
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" }, id: {} },
      required: ["id"],
    },
    isRelaxed: true,
  });
  assertEquals(plainSchema({ type: "object", allOf: [branch("a"), branch("b")] }).schema.required, ["id", "a", "b"]);
});

Deno.test("plainSchema() lets a property match the schema of any alternative", () => {
  const shape = (kind: string) => ({ type: "object", properties: { kind: { const: kind } }, required: ["kind"] });
  assertEquals(plainSchema({ oneOf: [shape("a"), shape("b"), shape("a"), { type: "null" }] }).schema, {
    type: "object",
    properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] } },
    required: ["kind"],
  });
});

Deno.test("plainSchema() follows references in alternatives, and ends at recursive ones", () => {
  const $defs = {
    A: { properties: { a: {} } },
    B: { allOf: [{ $ref: "#/$defs/A" }, { properties: { b: {} }, required: ["b"] }] },
    Self: { anyOf: [{ $ref: "#/$defs/Self" }, { properties: { self: {} } }] },
  };
  const refs = (...names: string[]) => names.map((name) => ({ $ref: `#/$defs/${name}` }));
  const { schema } = plainSchema({ oneOf: refs("B", "Self", "Gone", "constructor"), $defs });
  assertEquals(schema, { type: "object", properties: { a: {}, b: {}, self: {} }, $defs });
});

Deno.test("plainSchema() removes other keywords that a vendor rejects at the top", () => {
  const plain = { type: "object", properties: { a: {} }, required: ["a"] };
  assertEquals(plainSchema({ ...plain, enum: [{ a: 1 }], not: { required: ["b"] } }, ["enum", "not"]), {
    schema: plain,
    isRelaxed: true,
  });
  assertEquals(plainSchema({ ...plain, not: {} }), { schema: { ...plain, not: {} }, isRelaxed: false });
});

Deno.test("plainSchema() takes limited time for references that multiply at every step", () => {
  const again = { $ref: "#/$defs/a" };
  const schema = {
    anyOf: [again],
    $defs: { a: { properties: { x: { type: "string" } }, anyOf: Array.from({ length: 30 }, () => again) } },
  };
  const { schema: plain, isRelaxed } = plainSchema(schema);
  assertEquals([plain.type, isRelaxed, plain.properties], ["object", true, { x: { type: "string" } }]);
});

Deno.test("plainSchema() takes limited time for properties that grow at every step", () => {
  const branch = (next: number, nth: number) => ({ $ref: `#/$defs/s${next}`, properties: { x: { const: nth } } });
  const step = (next: number) => ({ anyOf: Array.from({ length: 12 }, (_, nth) => branch(next, nth)) });
  const $defs = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`s${at}`, step(at + 1)]));
  const schema = { anyOf: [{ $ref: "#/$defs/s0" }], $defs };
  const written = JSON.stringify(plainSchema(schema).schema.properties).length;
  assertEquals(written < 16 * JSON.stringify(schema).length, true);
});
