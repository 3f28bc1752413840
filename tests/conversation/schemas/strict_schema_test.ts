import { assert } from "@std/assert";
import { isStrictSchema } from "../../../src/conversation/schemas/strict_schema.ts";

Deno.test("isStrictSchema() checks every part of a schema", () => {
  const open = { type: "object", properties: { a: {} }, required: ["a"] };
  const closed = (inner: unknown) => ({
    type: "object",
    properties: { a: inner },
    required: ["a"],
    additionalProperties: false,
  });
  assert(isStrictSchema(closed({ type: "array", items: closed({}) })));
  for (const inner of [open, { items: open }, { anyOf: [open] }, { oneOf: [] }, { $defs: { x: open } }]) {
    assert(!isStrictSchema(closed(inner)));
  }
});

Deno.test("isStrictSchema() requires an object without alternatives at the top", () => {
  const closed = { type: "object", properties: {}, additionalProperties: false };
  assert(isStrictSchema(closed));
  const tops = [
    { type: "string" },
    { type: "array", items: closed },
    { type: ["object"], properties: {}, additionalProperties: false },
    { anyOf: [closed] },
    { ...closed, anyOf: [closed] },
    { ...closed, enum: [{}] },
    { $ref: "#/$defs/a", $defs: { a: closed } },
    null,
  ];
  for (const top of tops) assert(!isStrictSchema(top));
});
