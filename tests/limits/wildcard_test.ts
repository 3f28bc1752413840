import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { matchesWildcard } from "../../src/money/limits/wildcard.ts";

/** The same rule as a regular expression. Short texts keep its backtracking harmless. */
function matchesByExpression(pattern: string, text: string): boolean {
  const escaped = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  return new RegExp(`^${escaped.join("[^]*")}$`).test(text);
}

const letters = (alphabet: readonly string[]) =>
  fc.array(fc.constantFrom(...alphabet), { maxLength: 8 }).map((parts) => parts.join(""));

Deno.test("matchesWildcard() matches what the same regular expression matches", () => {
  fc.assert(
    fc.property(letters(["a", "b", "/", ".", "*", "*"]), letters(["a", "b", "/", ".", "*"]), (pattern, text) => {
      assertEquals(matchesWildcard(pattern, text), matchesByExpression(pattern, text), `${pattern} ${text}`);
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("matchesWildcard() matches whole texts", () => {
  for (
    const [pattern, text, isMatch] of [
      ["openai/*", "openai/gpt-6", true],
      ["openai/*", "openai/", true],
      ["openai/*", "xopenai/gpt-6", false],
      ["openai/*", "openai", false],
      ["*", "", true],
      ["*/gpt-*-mini", "openai/gpt-5.4-mini", true],
      ["*/gpt-*-mini", "openai/gpt-mini", false],
      ["a*a", "a", false],
      ["", "", true],
      ["openai.gpt", "openai/gpt", false],
    ] as const
  ) assertEquals(matchesWildcard(pattern, text), isMatch, `${pattern} ${text}`);
});

Deno.test("matchesWildcard() takes no exponential time for a hostile pattern", () => {
  assertEquals(matchesWildcard("*a".repeat(100) + "b", "a".repeat(100_000)), false);
});
