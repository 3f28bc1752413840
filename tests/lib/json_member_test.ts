import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { withMember } from "../../src/platform/lib/json/json_member.ts";

const COST = { name: "cost", value: "0.0000070000" };

Deno.test("withMember() adds a member at the start of the object, and changes nothing else", () => {
  assertEquals(
    withMember('{"a": [1, {"usage":{}}], "usage" : { "n":1 } ,"b":"x"}', ["usage"], COST),
    '{"a": [1, {"usage":{}}], "usage" : {"cost":0.0000070000, "n":1 } ,"b":"x"}',
  );
  assertEquals(withMember('{"usage":{ }}', ["usage"], COST), '{"usage":{"cost":0.0000070000 }}');
});

Deno.test("withMember() replaces an existing member", () => {
  assertEquals(
    withMember('{"usage":{"n":1,"cost":0.5,"m":2}}', ["usage"], COST),
    '{"usage":{"n":1,"cost":0.0000070000,"m":2}}',
  );
});

Deno.test("withMember() is null where the path leads to no object", () => {
  for (
    const text of ["", "[DONE]", "null", "[]", '"usage"', "{}", '{"usage":null}', '{"usage":[{}]}', '{"usage', "{"]
  ) {
    assertEquals(withMember(text, ["usage"], COST), null, text);
  }
});

Deno.test("withMember() sets a member as parsing and writing would, for every object and path", () => {
  const names = fc.constantFrom("a", "cost", "usage", '"usage":{', "ü\\");
  const objects = fc.dictionary(names, fc.jsonValue());
  fc.assert(fc.property(objects, objects, fc.constantFrom(undefined, 1, 2), (outer, usage, space) => {
    const value = { ...outer, response: { ...outer, usage, last: "}" }, end: 1 };
    const text = withMember(JSON.stringify(value, null, space), ["response", "usage"], COST);
    const expected = structuredClone(value);
    expected.response.usage = { ...usage, cost: 0.000007 };
    assertEquals(JSON.parse(text!), JSON.parse(JSON.stringify(expected)));
  }));
});

Deno.test("withMember() ends for every text", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,\\ 1') }), (text) => {
    withMember(text, ["a"], COST);
    withMember(`{"a":${text}`, ["a"], COST);
  }));
});
