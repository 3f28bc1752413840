import { assert } from "@std/assert";
import { isStrictSchema } from "../../src/conversation/strict_schema.ts";

Deno.test("isStrictSchema() looks into every corner of a schema", () => {
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
