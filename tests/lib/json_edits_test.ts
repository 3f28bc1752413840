import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { editJson, type JsonEdit, JsonRewrite } from "../../src/platform/lib/json/json_edits.ts";
import { atLeast, itemAt } from "../support/items.ts";

const edited = (text: string, ...edits: JsonEdit[]) =>
  new TextDecoder().decode(editJson(new TextEncoder().encode(text), edits));

Deno.test("editJson() changes the given paths, and no other byte", () => {
  const text = ' { "a" : [ 1.0 , {"b":"ü\\"}", "c" : 1e2}, [ ] ] ,"d":null } ';
  assertEquals(edited(text, { path: ["a", 1, "b"], value: "x" }), text.replace('"ü\\"}"', '"x"'));
  assertEquals(edited(text, { path: ["a", 1, "b"], value: undefined }), text.replace('"b":"ü\\"}", ', ""));
  assertEquals(edited(text, { path: ["a", 1, "c"], value: undefined }), text.replace(', "c" : 1e2', ""));
  assertEquals(edited(text, { path: ["a", 0], value: undefined }), text.replace("1.0 , ", ""));
  assertEquals(edited(text, { path: ["d"], value: undefined }), text.replace(' ,"d":null', ""));
  assertEquals(edited(text, { path: ["a"], value: undefined }, { path: ["d"], value: undefined }), " {  } ");
});

Deno.test("editJson() skips absent paths, and edits inside replaced values", () => {
  const text = '{"a":[{"b":1}]}';
  assertEquals(edited(text, { path: ["a", 5], value: 1 }, { path: ["x", "y"], value: 1 }), text);
  assertEquals(edited(text, { path: ["a", 0], value: 7 }, { path: ["a", 0, "b"], value: 2 }), '{"a":[7]}');
  assertEquals(edited(text, { path: ["a", 0, "b"], value: 2 }, { path: ["a", 0], value: undefined }), '{"a":[]}');
});

Deno.test("editJson() edits the last of two members of one name, as JSON.parse does", () => {
  assertEquals(edited('{"a":1,"a":2}', { path: ["a"], value: 3 }), '{"a":1,"a":3}');
});

Deno.test("editJson() agrees with the same change of the parsed value, for any value and any paths", () => {
  const tree = fc.jsonValue({ maxDepth: 4 });
  const spaced = fc.constantFrom(undefined, 1, "\t");
  fc.assert(
    fc.property(tree, fc.array(fc.nat(), { maxLength: 4 }), fc.boolean(), spaced, (value, turns, removes, by) => {
      const parsed = JSON.parse(JSON.stringify(value));
      const path = pathIn(parsed, turns);
      if (path.length === 0) return;
      const text = edited(JSON.stringify(parsed, null, by), { path, value: removes ? undefined : "new" });
      assertEquals(JSON.parse(text), changed(parsed, path, removes));
    }),
  );
});

function pathIn(value: unknown, turns: readonly number[]): (string | number)[] {
  if (turns.length === 0 || typeof value !== "object" || value === null) return [];
  const keys = Object.keys(value);
  if (keys.length === 0) return [];
  const key = itemAt(keys, itemAt(turns, 0) % keys.length);
  const inner = pathIn((value as Record<string, unknown>)[key], turns.slice(1));
  return [Array.isArray(value) ? Number(key) : key, ...inner];
}

function changed(value: unknown, path: (string | number)[], removes: boolean): unknown {
  const [key, ...rest] = atLeast(path, 1);
  const copy = structuredClone(value) as Record<string | number, unknown>;
  if (rest.length > 0) {
    Object.defineProperty(copy, key, {
      value: changed(copy[key], rest, removes),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else if (!removes) {
    Object.defineProperty(copy, key, { value: "new", enumerable: true, configurable: true, writable: true });
  } else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key];
  return copy;
}

Deno.test("editJson() rewrites the text of a value", () => {
  const rewrite = new JsonRewrite((json) => json.replace("n", "m"));
  assertEquals(
    edited('{"a": [ {"n":12345678901234567890} ], "b":1}', { path: ["a", 0], value: rewrite }),
    '{"a": [ {"m":12345678901234567890} ], "b":1}',
  );
});

Deno.test("editJson() renames a member that it gives a value, in its place", () => {
  const text = '{ "a" : {"b": 1, "c":2 }, "d": [3] }';
  const renamed = text.replace('"b": 1', '"x\\"":true');
  assertEquals(edited(text, { path: ["a", "b"], value: true, name: 'x"' }), renamed);
  assertEquals(edited(text, { path: ["a", "e"], value: true, name: "x" }), text);
});
