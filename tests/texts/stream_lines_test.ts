import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  applyEdits,
  bytesOfLatin1,
  endsFrame,
  latin1Of,
  linesIn,
  textOfLatin1,
} from "../../src/services/texts/relay/stream_lines.ts";

const texts = fc.string({ unit: fc.constantFrom("a", "\n", "\r", "b") });

Deno.test("linesIn() splits a text into lines that together are the text", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const lines = linesIn(text);
      assertEquals(lines.map(({ start, end }) => text.slice(start, end)).join(""), text);
      const said = lines.map((line) => line.text);
      assertEquals(
        [...said, ""].join("\n"),
        text.replace(/\r\n?/g, "\n") + (/[\r\n]$/.test(text) || text === "" ? "" : "\n"),
      );
    }),
  );
});

Deno.test("applyEdits() replaces the given ranges and nothing else", () => {
  assertEquals(applyEdits("abcdef", []), "abcdef");
  assertEquals(applyEdits("abcdef", [{ start: 0, end: 1, text: "" }, { start: 2, end: 4, text: "XYZ" }]), "bXYZef");
});

Deno.test("endsFrame() recognizes every kind of empty line", () => {
  assertEquals(["", "a\n\n", "a\r\n\r\n", "a\r\r"].map(endsFrame), [true, true, true, true]);
  assertEquals(["a", "a\n", "a\r\n", "a\r"].map(endsFrame), [false, false, false, false]);
});

Deno.test("latin1Of() and bytesOfLatin1() keep every byte", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => assertEquals(bytesOfLatin1(latin1Of(bytes)), Buffer.from(bytes))));
  assertEquals(textOfLatin1(latin1Of(new TextEncoder().encode("Grüße 世界"))), "Grüße 世界");
});
