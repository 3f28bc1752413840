import { assertEquals } from "@std/assert";
import { hasQuoted, WordSearch } from "../../src/platform/lib/text/word_search.ts";

const SEARCH = new WordSearch(/"(?:usage|end)"(?!\s*:\s*null)|\[DONE\]/, ['"usage"', '"end"', "[DONE]"]);

for (const [length, padding] of [["short", ""], ["long", "x".repeat(20_000)]] as const) {
  Deno.test(`word search: a ${length} text matches as the expression does`, () => {
    const matches = (text: string) => SEARCH.test(padding + text + padding);
    assertEquals(['"usage": {}', '{"end":"stop"}', "[DONE]"].map(matches), [true, true, true]);
    assertEquals(["", "usage", '"usage": null', '"ends"'].map(matches), [false, false, false, false]);
  });
}

Deno.test("hasQuoted() finds a word only right after a quote", () => {
  const found = ['{"$ref":1}', '["a $ref"]', "$ref", '"ref"', '["$re", "$ref"]'].map((text) => hasQuoted(text, "$ref"));
  assertEquals(found, [true, false, false, false, true]);
});
