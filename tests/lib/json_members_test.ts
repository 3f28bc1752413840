import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { scanJson } from "../../src/platform/lib/json/json.ts";
import { hasRepeatedMember } from "../../src/platform/lib/json/json_members.ts";

function repeats(text: string): boolean {
  const whole = `{"in":${text}}`;
  return hasRepeatedMember(scanJson(new TextEncoder().encode(whole)), JSON.parse(whole));
}

Deno.test("hasRepeatedMember() is false for whatever JSON.stringify writes", () => {
  const text = fc.string({ unit: fc.constantFrom('"', "\\", ":", "é", "a", "{", "\n") });
  const long = text.map((each) => each.repeat(20));
  const value = fc.oneof(fc.jsonValue(), fc.dictionary(long, fc.array(long)));
  fc.assert(
    fc.property(value, fc.nat(2), (each, space) => assertEquals(repeats(JSON.stringify(each, null, space)), false)),
  );
});

for (
  const text of [
    '{"a":1,"a":1}',
    '{"a":{"file_id":"x","file_id":null}}',
    '[{"b":[{"file_id":1,"file\\u005fid":2}]}]',
    '{"a":{"x":{},"x":[]}}',
    `{"a":{"${"\\\\".repeat(40)}":1,"${"\\\\".repeat(40)}":1}}`,
  ]
) {
  Deno.test(`hasRepeatedMember() is true for ${text.slice(0, 40)}`, () => assert(repeats(text)));
}
