import { assertEquals } from "@std/assert";
import { diffOf } from "../../src/config/diff/config_diff.ts";
import { readLayers } from "../../src/config/config.ts";
import { diffSentences } from "../../src/config/diff/diff_sentences.ts";
import { priceOfMillion, priceOfOne } from "../../src/platform/names/per_million.ts";

const PROVIDER = { kind: "openai", base_url: "https://one.example/v1", api_key: "key-one" };
const MODEL = { id: "openai/gpt-large", serves: [{ provider: "openai" }], pricing: { prompt: "0.000002" } };
const BASE = {
  providers: { openai: PROVIDER, spare: PROVIDER },
  models: [MODEL],
  aliases: { best: "openai/gpt-large" },
};

function sentences(next: Record<string, unknown>, before: Record<string, unknown> = BASE): string[] {
  const read = (tree: unknown) =>
    readLayers({ text: JSON.stringify(tree), file: "test.json", env: () => undefined, stored: {} }).tree;
  const old = read(before);
  return diffSentences({ ...diffOf(old, read(next), old), revoked_keys: [] }, true);
}

const priced = (pricing: unknown, more: Record<string, unknown> = {}) => ({
  ...BASE,
  models: [{ ...MODEL, pricing, ...more }],
});

Deno.test("a changed price is a sentence with the price of a million", () => {
  assertEquals(sentences(priced({ prompt: "0.000003" })), ["openai/gpt-large: prompt 2.00 → 3.00 USD per million."]);
  assertEquals(sentences(priced({ prompt_per_million: "2.125" })), [
    "openai/gpt-large: prompt 2.00 → 2.125 USD per million.",
  ]);
  assertEquals(sentences(priced({ prompt: "0.000002", completion: "0.00001", request: "0.01" })), [
    "openai/gpt-large: completion no price → 10.00 USD per million.",
    "openai/gpt-large: request no price → 0.01 USD.",
  ]);
});

Deno.test("a price that is only written in another way is no change", () => {
  assertEquals(sentences(priced({ prompt_per_million: "2" })), ["Nothing has changed."]);
});

Deno.test("other changes say what was and what is, without secrets", () => {
  assertEquals(
    sentences({
      ...BASE,
      providers: { ...BASE.providers, openai: { ...PROVIDER, api_key: "key-two", state: "drain" } },
    }),
    [
      "provider openai: api_key has changed; its value is secret.",
      "provider openai: state not set → drain.",
    ],
  );
  assertEquals(sentences(priced(MODEL.pricing, { context_length: 1_000 })), [
    "openai/gpt-large: context_length not set → 1000.",
  ]);
  assertEquals(sentences({ ...BASE, limits: { text_body: "5MB" }, server: { port: 9_000 } }), [
    "limits.text_body not set → 5MB.",
    "server.port changes with the next start of the gateway.",
  ]);
});

Deno.test("a removal says what stays in force", () => {
  const accounts = [{ id: "bot", balance: "1.00", keys: ["sk-bot-0123456789abcdef0123"] }];
  const found = sentences({ providers: { openai: PROVIDER }, models: [MODEL] }, { ...BASE, accounts });
  assertEquals(found.map((each) => each.split(". ")[0]), [
    "The provider spare is removed",
    "The alias best is removed",
    "The account bot is removed",
  ]);
  assertEquals(found.every((each) => each.endsWith(".") && each.split(". ").length > 1), true);
});

Deno.test("an addition is named, and no difference is told", () => {
  assertEquals(sentences({ ...BASE, aliases: { ...BASE.aliases, fast: "openai/gpt-large" } }), [
    "The alias fast is new.",
  ]);
  assertEquals(sentences(BASE), ["Nothing has changed."]);
});

Deno.test("priceOfMillion() is the reverse of priceOfOne()", () => {
  for (const price of ["0.00", "2.00", "2.50", "0.000001", "12345.678", "0.075"]) {
    assertEquals(Number(priceOfMillion(priceOfOne(price))), Number(price));
  }
  assertEquals(priceOfMillion("0.000002"), "2.00");
  assertEquals(priceOfMillion("1"), "1000000.00");
});
