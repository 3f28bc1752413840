import { assertEquals } from "@std/assert";
import { AnsweringModels, readModelName } from "../../src/conversation/models/answering_models.ts";
import { isSameModel } from "../../src/conversation/models/families/fact_entry.ts";

/** Two names, and whether they are those of one model. */
const PAIRS: readonly (readonly [one: string, other: string, isSame: boolean])[] = [
  ["gpt-6-sol", "gpt-6-sol-2026-08-11", true],
  ["gpt-4", "gpt-4-0613", true],
  ["gpt-4o-mini-search-preview", "gpt-4o-mini-search-preview-2025-03-11", true],
  ["gemini-3.8-flash", "models/gemini-3.8-flash-001", true],
  ["gemini-2.5-flash", "gemini-2.5-flash-preview-09-2025", true],
  ["gemini-3-pro-preview", "gemini-3-pro", true],
  ["claude-opus-4.8", "claude-opus-4-8-20260514", true],
  ["us.anthropic.claude-opus-4-8-v1:0", "claude-opus-4-8", true],
  ["claude-sonnet-5", "claude-sonnet-5@20260701", true],
  ["mistral-large-latest", "mistral-large-2411", true],
  ["ft:gpt-4o-mini-2024-07-18:acme::1", "gpt-4o-mini", true],
  ["gemini-2.5-flash", "gemini-3.5-flash-lite", false],
  ["gemini-2.5-flash", "gemini-2.5-flash-lite", false],
  ["gemini-3.5-flash", "gemini-3.6-flash", false],
  ["gemini-flash-latest", "gemini-3.8-flash", false],
  ["gpt-6-sol", "gpt-6.1-sol", false],
  ["gemini-2.5-flash-preview-tts", "gemini-2.5-flash", false],
];

Deno.test("isSameModel() ignores makers, dates, versions and stages", () => {
  for (const [one, other, isSame] of PAIRS) {
    assertEquals([isSameModel(one, other), isSameModel(other, one)], [isSame, isSame], `${one} ${other}`);
  }
});

Deno.test("readModelName() reads short names only", () => {
  assertEquals(readModelName("models/gemini-4-argon"), "gemini-4-argon");
  assertEquals(readModelName("deepseek-ai/DeepSeek-V4@1:free"), "deepseek-ai/DeepSeek-V4@1:free");
  for (
    const odd of [undefined, null, 1, {}, [], "", " a", "a b", "a\n", "é", "a".repeat(129), "a".repeat(10_000_000)]
  ) {
    assertEquals(readModelName(odd), null);
  }
});

Deno.test("AnsweringModels reports each name once, and a limited number of them", () => {
  const seen: string[] = [];
  const answering = new AnsweringModels((asked, name) => void seen.push(`${asked} ${name}`));
  for (let time = 0; time < 2; time++) {
    for (let each = 0; each < 1_000; each++) answering.noteOther("a", `b-${each}`, null);
  }
  assertEquals(seen.length, 16);
  assertEquals([...answering.namesFor("a")].length, 16);
});

Deno.test("AnsweringModels has the known model that answered last", () => {
  const answering = new AnsweringModels(() => {});
  const entry = { id: "acme/b", supportedParameters: [] };
  answering.noteOther("a", "b", entry);
  assertEquals(answering.current("a"), { name: "b", entry });
  assertEquals(answering.current("b"), null);
  answering.noteOther("a", "stranger", null);
  assertEquals(answering.current("a"), null);
  answering.noteOther("a", "b", entry);
  answering.noteOwn("a");
  assertEquals(answering.current("a"), null);
});
