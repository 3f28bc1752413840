import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { withCuts } from "../../src/platform/lib/json/json_cuts.ts";
import { halfCharacterCuts, wellFormedJson } from "../../src/platform/lib/json/well_formed_json.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom("\\", "\\u", "d83d", "\ud83d", "\ude00", "\u{1f600}", '"', "D83D", "\uac00"))
    .map((parts) => parts.join("")),
);

Deno.test("wellFormedJson() writes every text with whole characters, and changes no other", () => {
  fc.assert(fc.property(text, (value) => {
    assertEquals(JSON.parse(wellFormedJson({ value, [value]: 1 })), {
      value: value.toWellFormed(),
      [value.toWellFormed()]: 1,
    });
    assertEquals(wellFormedJson(value).isWellFormed(), true);
  }));
});

/** A JSON text in which every character beyond ASCII is escaped, as Python writes it. */
function escaped(value: string, isUpper: boolean): string {
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${isUpper ? digits.toUpperCase() : digits}`;
  });
}

Deno.test("halfCharacterCuts() finds halves of characters, and no others", () => {
  fc.assert(fc.property(text, fc.boolean(), (value, isUpper) => {
    const bytes = new TextEncoder().encode(`[${escaped(value, isUpper)}]`);
    const cut = withCuts(bytes, halfCharacterCuts(bytes, 1, bytes.length - 1)).joined();
    assertEquals(JSON.parse(new TextDecoder().decode(cut)), [value.toWellFormed()]);
    if (value.isWellFormed()) assertEquals(cut, bytes);
  }));
});
