import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { withoutWebTokens } from "../../src/platform/lib/text/web_token.ts";

/** The rule as a regular expression, which needs up to a thousand steps for each `eyJ`. */
const TOKEN = /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g;

/** A text that counts how often a letter of it is read. */
class CountedText {
  reads = 0;

  constructor(readonly text: string) {}

  get length(): number {
    return this.text.length;
  }

  charCodeAt(index: number): number {
    this.reads++;
    return this.text.charCodeAt(index);
  }

  indexOf(part: string, from?: number): number {
    return this.text.indexOf(part, from);
  }

  slice(start?: number, end?: number): string {
    return this.text.slice(start, end);
  }
}

/** Texts of what tokens consist of, and of what ends one. */
const texts = fc.array(
  fc.constantFrom("eyJ", "eyJ", ".", ".", "-", "_", "a", "Z9aaaaaa", "aaaaaaaaaaaaaa", " ", "é", "x"),
  { maxLength: 60 },
).map((parts) => parts.join(""));

Deno.test("withoutWebTokens() removes what the rule names", () => {
  fc.assert(
    fc.property(texts, (text) => {
      assertEquals(withoutWebTokens(text), text.replace(TOKEN, "[redacted]"));
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("withoutWebTokens() reads each letter a few times, whatever the text", () => {
  fc.assert(fc.property(texts, (text) => {
    const counted = new CountedText(text.repeat(50));
    withoutWebTokens(counted);
    assert(counted.reads <= 4 * counted.length + 4, `${counted.reads} reads of ${counted.length} letters`);
  }));
  for (const part of ["eyJ-", "eyJ", "eyJ.", "eyJ-aaaaaaaa.", "eyJ-eyJ-eyJ-aaaa.aaaaaaa.", "-eyJaaaaaaaaa.aaaaaaaa."]) {
    const counted = new CountedText(part.repeat(10_000));
    withoutWebTokens(counted);
    assert(counted.reads <= 4 * counted.length, `${counted.reads} reads of ${counted.length} letters: ${part}`);
  }
});
