import { assert, assertEquals, assertThrows } from "@std/assert";
import { Ajv2020, type AnySchemaObject } from "ajv/2020";
import fc from "fast-check";
import { readDescription } from "../../src/protocols/documentation/api_description.ts";
import { schemaProblems } from "../support/schema_check.ts";

const description = await readDescription();

/** A validator of the whole standard, for schemas in which an object has the described fields alone. */
const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, inlineRefs: false });
ajv.addSchema(withClosedObjects(description), "openapi");

Deno.test("schemaProblems() finds a fault where a validator of the whole standard does", () => {
  let valid = 0;
  let invalid = 0;
  for (const [pointer, example] of examples()) {
    const validate = ajv.compile({ $ref: `openapi#${pointer}` });
    for (const value of [example, ...changed(example)]) {
      const problems = schemaProblems(value, description, pointer);
      assertEquals(problems.length === 0, validate(value), `${pointer}\n${JSON.stringify(value)}\n${problems}`);
      if (problems.length === 0) valid++;
      else invalid++;
    }
  }
  assert(valid > 100 && invalid > 500, `${valid} valid, ${invalid} invalid`);
});

Deno.test("law: schemaProblems() agrees with a validator of the whole standard about schemas and values of every kind", () => {
  const value = fc.jsonValue({ maxDepth: 2 });
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), tie("keywords")),
    keywords: fc.record({
      type: fc.oneof(TYPE, fc.uniqueArray(TYPE, { minLength: 1 })),
      const: value,
      enum: fc.array(value, { minLength: 1, maxLength: 3 }),
      not: tie("schema"),
      anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
      allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
      minimum: fc.integer(),
      maximum: fc.integer(),
      minLength: fc.nat(3),
      maxLength: fc.nat(3),
      pattern: fc.constantFrom("^a", "b$", "^.$"),
      minItems: fc.nat(3),
      maxItems: fc.nat(3),
      items: tie("schema"),
      required: fc.uniqueArray(NAME, { maxLength: 2 }),
      properties: fc.dictionary(NAME, tie("schema"), { maxKeys: 3 }),
      additionalProperties: tie("schema"),
      propertyNames: tie("schema"),
    }, { requiredKeys: [] }),
  }));
  const near = fc.oneof(
    value,
    fc.dictionary(NAME, value, { maxKeys: 3 }),
    fc.array(value, { maxLength: 4 }),
    fc.string(),
  );
  fc.assert(
    fc.property(schema, near, (schema, value) => {
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
        withClosedObjects(schema),
      );
      assertEquals(schemaProblems(value, { schema }, "/schema").length === 0, validate(value));
    }),
    { numRuns: 50 },
  );
});

Deno.test("schemaProblems() refuses a schema with a keyword that it does not know", () => {
  assertThrows(() => schemaProblems({}, { minProperties: 1 }, ""), Error, "minProperties");
});

const NAME = fc.constantFrom("a", "b", "a/b");
const TYPE = fc.constantFrom("null", "boolean", "number", "integer", "string", "array", "object");

/** Every schema of a body, with the value of each example beside it. */
function* examples(): Generator<[pointer: string, value: unknown]> {
  const found: [string, unknown][] = [];
  const search = (value: unknown, pointer: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { schema, examples } = value as { schema?: unknown; examples?: Record<string, { value: unknown }> };
    if (schema !== undefined && examples !== undefined && !Array.isArray(examples)) {
      for (const { value } of Object.values(examples)) found.push([`${pointer}/schema`, value]);
    }
    for (const [name, each] of Object.entries(value)) {
      search(each, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    }
  };
  search(description, "");
  assert(found.length > 25, `${found.length} examples`);
  yield* found;
}

/** The value with one change each: a field less, a field more, or another type in one place. */
function* changed(value: unknown): Generator<unknown> {
  for (const other of [null, -1, 0.5, "x", [], {}]) if (typeof other !== typeof value || value === null) yield other;
  if (Array.isArray(value)) {
    yield [];
    for (const [index, each] of value.slice(0, 3).entries()) {
      for (const other of changed(each)) yield value.with(index, other);
    }
  } else if (typeof value === "object" && value !== null) {
    yield { ...value, "not-described": 1 };
    for (const [name, each] of Object.entries(value)) {
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield rest;
      for (const other of changed(each)) yield { ...value, [name]: other };
    }
  }
}

/** Fields that are not described are faults, as in {@linkcode schemaProblems}. */
function withClosedObjects(schema: unknown): AnySchemaObject {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    const isOpen = typeof value !== "object" || value === null || value.properties === undefined ||
      value.type !== "object" || value.additionalProperties !== undefined;
    return isOpen ? value : { ...value, additionalProperties: false };
  });
}
