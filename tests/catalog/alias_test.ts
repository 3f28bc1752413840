import { assertEquals } from "@std/assert";
import { type Alias, readAlias } from "../../src/vendors/catalog/alias.ts";
import { isAliasName } from "../../src/vendors/catalog/alias_name.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { modelOf } from "./support.ts";

const MODELS = [
  modelOf({ id: "anthropic/claude-5", fallbacks: ["openai/gpt-6"] }),
  modelOf({ id: "openai/gpt-6", canonical_slug: "openai/gpt-6-2026" }),
  modelOf({ id: "openai/gpt-6-mini" }),
  modelOf({ id: "openai/o9" }),
  modelOf({ id: "azure/gpt-6" }),
  modelOf({ id: "openrouter/meta-llama/llama-4" }),
];

function catalogWith(aliases: Record<string, unknown>) {
  return createCatalog(MODELS, { aliases: aliasesOf(aliases) });
}

function aliasesOf(aliases: Record<string, unknown>): Alias[] {
  return Object.entries(aliases).map(([name, value]) => readAlias(name, value));
}

Deno.test("an alias resolves to its model, through other aliases, a slug, a bare name or an id with more slashes", () => {
  const catalog = catalogWith({
    "claude-4": "anthropic/claude-5",
    "old": "claude-4",
    "slug": "openai/gpt-6-2026",
    "bare": "gpt-6-mini",
    "my/llama:free": "openrouter/meta-llama/llama-4",
  });
  assertEquals(catalog.find("claude-4")?.id, "anthropic/claude-5");
  assertEquals(catalog.find("old")?.id, "anthropic/claude-5");
  assertEquals(catalog.find("slug")?.id, "openai/gpt-6");
  assertEquals(catalog.find("bare")?.id, "openai/gpt-6-mini");
  assertEquals(catalog.find("my/llama:free")?.id, "openrouter/meta-llama/llama-4");
  assertEquals(catalog.find("meta-llama/llama-4")?.id, "openrouter/meta-llama/llama-4");
  assertEquals(catalog.find("Claude-4"), null);
  assertEquals([catalog.named("old")?.isAlias, catalog.named("openai/gpt-6")?.isAlias], [true, false]);
});

Deno.test("a star in the target is replaced by what the star matched, or by the whole name when that is no model", () => {
  const catalog = catalogWith({ "gpt-*": "openai/*", "fast/*": "openai/*-mini", "*-latest": "*", "*@eu": "azure/*" });
  assertEquals(catalog.find("gpt-6")?.id, "openai/gpt-6"); // not openai/6, which no model has
  assertEquals(catalog.find("gpt-o9")?.id, "openai/o9");
  assertEquals(catalog.find("fast/gpt-6")?.id, "openai/gpt-6-mini");
  assertEquals(catalog.find("gpt-6@eu")?.id, "azure/gpt-6");
  assertEquals(catalog.find("claude-5-latest")?.id, "anthropic/claude-5");
  for (const none of ["gpt-", "gpt-7", "fast/", "@eu", "-latest"]) assertEquals(catalog.find(none), null, none);
});

Deno.test("exact names take precedence over stars, and longer patterns over shorter ones", () => {
  const catalog = catalogWith({
    "*": "openai/o9",
    "gpt-*": "azure/*",
    "gpt-6-*": "openai/gpt-6-mini",
    "gpt-6-pro": "anthropic/claude-5",
  });
  assertEquals(catalog.find("gpt-6-pro")?.id, "anthropic/claude-5");
  assertEquals(catalog.find("gpt-6-max")?.id, "openai/gpt-6-mini");
  assertEquals(catalog.find("gpt-6")?.id, "azure/gpt-6");
  assertEquals(catalog.find("claude-5")?.id, "anthropic/claude-5"); // a bare name is exact
  assertEquals(catalog.find("openai/gpt-6")?.id, "openai/gpt-6");
  assertEquals(catalog.find("anything")?.id, "openai/o9");
  assertEquals(catalog.find("x".repeat(1_000_000)), null);
});

Deno.test("an alias takes precedence over a bare name, and a loop of aliases resolves to nothing", () => {
  assertEquals(catalogWith({ "claude-5": "openai/o9" }).find("claude-5")?.id, "openai/o9");
  const catalog = catalogWith({ one: "two", two: "one" });
  assertEquals([catalog.find("one"), catalog.find("two")], [null, null]);
});

Deno.test("the fallbacks of a name are those of its alias, otherwise those of its model", () => {
  const catalog = catalogWith({
    plain: "anthropic/claude-5",
    own: { model: "anthropic/claude-5", fallbacks: ["plain", "openai/o9", "o9", "nothing", "gpt-6-mini"] },
    none: { model: "anthropic/claude-5", fallbacks: [] },
  });
  const fallbacksOf = (name: string) => catalog.named(name)!.fallbacks.map(({ id }) => id);
  assertEquals(fallbacksOf("anthropic/claude-5"), ["openai/gpt-6"]);
  assertEquals(fallbacksOf("plain"), ["openai/gpt-6"]);
  assertEquals(fallbacksOf("own"), ["openai/o9", "openai/gpt-6-mini"]);
  assertEquals(fallbacksOf("none"), []);
});

Deno.test("a discovered model never replaces a name that the operator configured", () => {
  const discovered = [
    modelOf({ id: "openai/gpt-6", name: "Other" }),
    modelOf({ id: "evil/claude-5" }),
    modelOf({ id: "evil/star" }),
    modelOf({ id: "evil/own" }),
    modelOf({ id: "worse/twice" }),
    modelOf({ id: "evil/twice" }),
  ];
  const aliases = aliasesOf({ "evil/star": "openai/o9" });
  const catalog = createCatalog(MODELS, { aliases, discovered });
  assertEquals(catalog.find("openai/gpt-6")?.name, "gpt-6");
  assertEquals(catalog.find("claude-5")?.id, "anthropic/claude-5");
  assertEquals(catalog.find("evil/star")?.id, "openai/o9");
  assertEquals(catalog.find("own")?.id, "evil/own");
  assertEquals(catalog.find("twice"), null);
  assertEquals(catalog.models.length, MODELS.length + 4);
});

Deno.test("isAliasName() accepts names of models with at most one star", () => {
  for (const name of ["gpt-*", "*", "a/b:c@d", "claude-4.5", "x/*/y", "openai/*"]) {
    assertEquals(isAliasName(name), true);
  }
  for (const name of ["", "*-*", "a b", "a//b", "../a", "a/..", "/a", "a?", "ä", "a".repeat(257)]) {
    assertEquals(isAliasName(name), false, name);
  }
});
