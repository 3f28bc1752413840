import { assertEquals } from "@std/assert";
import { configOf, problemsOf } from "./support.ts";

const PROVIDERS = `
providers:
  one: { kind: openai, base_url: "http://127.0.0.1:1/v1" }
  two: { kind: anthropic, base_url: "http://127.0.0.1:1" }
  three: { kind: fal, api_key: key }
`;
const MODELS = `${PROVIDERS}
models:
  - { id: one/talk, canonical_slug: one/talk-2026, pricing: free, serves: [{ provider: one }] }
  - { id: two/talk, pricing: free, serves: [{ provider: two }] }
  - { id: two/more/deep, pricing: free, serves: [{ provider: two }] }
  - { id: "one/*", pricing: free }
`;

/** The problems of entries of `aliases`, without the file's name. */
function aliasProblems(aliases: string, before = MODELS): string[] {
  return problemsOf(`${before}\naliases:\n${aliases}`).map((line) => line.replace("switchyard.yaml: ", ""));
}

Deno.test("readConfig() reads aliases in both forms", () => {
  const config = configOf(`${MODELS}
aliases:
  gpt: one/talk
  deep: { model: two/more/deep, fallbacks: [one/talk, one/found, gpt], listed: true }
  "g-*": one/*
  any: { model: "deep" }
  "*": gpt
`);
  assertEquals(config.aliases, [
    { name: "gpt", model: "one/talk", fallbacks: null, isListed: false },
    { name: "deep", model: "two/more/deep", fallbacks: ["one/talk", "one/found", "gpt"], isListed: true },
    { name: "g-*", model: "one/*", fallbacks: null, isListed: false },
    { name: "any", model: "deep", fallbacks: null, isListed: false },
    { name: "*", model: "gpt", fallbacks: null, isListed: false },
  ]);
});

Deno.test("config check reports each problem in an alias with its path", () => {
  assertEquals(aliasProblems("  gtp: tow/talk"), [
    'aliases.gtp: expected the name of a model or alias (did you mean "two/talk"?), got "tow/talk"',
  ]);
  assertEquals(aliasProblems("  talky: talk")[0]?.startsWith("aliases.talky: expected the name of a model"), true); // two have it
  assertEquals(aliasProblems("  one/talk: two/talk\n  one/talk-2026: two/talk\n  two: two/talk").length, 3);
  assertEquals(aliasProblems("  a: b\n  b: c\n  c: a"), [
    'aliases.a: expected the name of a model, not an alias that refers back to this one, got "b"',
    'aliases.b: expected the name of a model, not an alias that refers back to this one, got "c"',
    'aliases.c: expected the name of a model, not an alias that refers back to this one, got "a"',
  ]);
  assertEquals(aliasProblems("  a: a").length, 1);
  assertEquals(aliasProblems('  "*-*": two/talk'), [
    'aliases.*-*: expected a model name of letters, digits and . _ - : / with at most one "*", got an invalid name',
  ]);
  assertEquals(aliasProblems('  a: "two/*"'), [
    'aliases.a: expected the name of one model, as the alias itself has no star, got "two/*"',
  ]);
  assertEquals(aliasProblems('  "a-*": "four/*"').length, 1);
  assertEquals(aliasProblems('  "a-*": "two/*/*"').length, 1);
  assertEquals(aliasProblems('  "a-*": { model: two/talk, listed: true }'), [
    "aliases.a-*.listed: expected false, as a name with a star cannot be listed, got true",
  ]);
  assertEquals(aliasProblems("  a: { model: two/talk, fallback: [one/talk] }")[0]?.includes('"fallbacks"'), true);
  assertEquals(aliasProblems("  a: { listed: true }").length, 1);
  assertEquals(aliasProblems("  a: [two/talk]").length, 1);
  assertEquals(problemsOf(`${MODELS}\naliases: [a]`).length, 1);
  assertEquals(
    aliasProblems("  claude-sonnet-4-5-20250929: nothing-like-it")[0]?.split(":")[0],
    "aliases.claude-sonnet-4-5-20250929",
  );
});

Deno.test("config check reports each problem in fallbacks with its path", () => {
  const withFallbacks = (list: string) =>
    problemsOf(`${PROVIDERS}
models:
  - { id: one/talk, fallbacks: ${list}, pricing: free, serves: [{ provider: one }] }
  - { id: two/talk, pricing: free, serves: [{ provider: two }] }
`).map((line) => line.replace("switchyard.yaml: ", ""));
  assertEquals(withFallbacks("[two/talk]"), []);
  assertEquals(withFallbacks("[one/talk]"), [
    'models[0].fallbacks[0]: expected a different model than the first, got "one/talk"',
  ]);
  assertEquals(withFallbacks("[two/talk, two/tlak]"), [
    'models[0].fallbacks[1]: expected the name of a model or alias (did you mean "two/talk"?), got "two/tlak"',
  ]);
  assertEquals(withFallbacks("[two/talk, two/talk]").length, 1);
  assertEquals(withFallbacks('["*"]').length, 1);
  assertEquals(withFallbacks("two/talk").length, 1);
  assertEquals(
    aliasProblems("  a: { model: two/talk, fallbacks: [two/talk, none] }").map((line) => line.split(":")[0]),
    [
      "aliases.a.fallbacks[0]",
      "aliases.a.fallbacks[1]",
    ],
  );
});

Deno.test("readConfig() reads an id with a star as the models that a provider lists", () => {
  const { models, modelPatterns } = configOf(`${PROVIDERS}
models:
  - { id: "one/*", pricing: free, refresh: 60 }
  - { id: "far/qwen/*", pricing: { prompt: "0.001" }, context_length: 1000, serves: [{ provider: two }] }
  - { id: "two/*" }
`);
  assertEquals(models, []);
  assertEquals(modelPatterns, [
    { id: "one/*", provider: "one", before: "", servesUnpriced: true, fields: {}, refreshMs: 60_000 },
    {
      id: "far/qwen/*",
      provider: "two",
      before: "qwen/",
      servesUnpriced: true,
      fields: { context_length: 1000, pricing: { prompt: "0.001" } },
      refreshMs: 3_600_000,
    },
    { id: "two/*", provider: "two", before: "", servesUnpriced: false, fields: {}, refreshMs: 3_600_000 },
  ]);
});

Deno.test("config check reports each problem in a model with a star with its path", () => {
  const problemsFor = (entry: string) =>
    problemsOf(`${PROVIDERS}\nmodels:\n  - ${entry}`).map((line) => line.replace("switchyard.yaml: models[0].", ""));
  assertEquals(problemsFor('{ id: "four/*" }').map((line) => line.split(":")[0]), ["id"]);
  assertEquals(problemsFor('{ id: "three/*" }'), [
    "id: expected a provider with a list of models (kind openai, anthropic, google, xai, alibaba), got one of kind fal",
  ]);
  assertEquals(
    problemsFor('{ id: "a/*", serves: [{ provider: three }] }')[0]?.startsWith("serves[0].provider: expected"),
    true,
  );
  assertEquals(problemsFor('{ id: "*" }').length, 1);
  assertEquals(problemsFor('{ id: "one/*-mini" }').length, 1);
  assertEquals(problemsFor('{ id: "one/*", pricing: cheap }'), [
    'pricing: expected free, or a section with at least one price, got "cheap"',
  ]);
  assertEquals(problemsFor('{ id: "one/*", pricing: {} }').length, 1);
  assertEquals(
    problemsFor('{ id: "one/*", pricing: { prompt: abc } }')[0]?.startsWith("pricing.prompt: expected a decimal"),
    true,
  );
  assertEquals(problemsFor('{ id: "one/*", refresh: 1 }').length, 1);
  assertEquals(problemsFor('{ id: "one/*", image: {} }').length, 1);
  assertEquals(problemsFor('{ id: "one/*", serves: [{ provider: one }, { provider: two }] }').length, 1);
  assertEquals(problemsFor('{ id: "one/*", fallbacks: [none] }'), [
    'fallbacks[0]: expected the name of a model or alias (no model or alias has this name), got "none"',
  ]);
});

Deno.test("config check refuses fallbacks that can serve none of the model's requests", () => {
  const image = "image: {}";
  const video = 'video: { modes: [text2video], price_per_second: { default: "1" } }';
  const problemsFor = (first: string, second: string) =>
    problemsOf(`${PROVIDERS}
models:
  - { id: one/first, ${first}, pricing: free, fallbacks: [one/second], serves: [{ provider: one }] }
  - { id: one/second, ${second}, pricing: free, serves: [{ provider: one }] }
`).map((line) => line.replace("switchyard.yaml: ", ""));
  assertEquals(problemsFor("created: 1", "created: 1"), []);
  assertEquals(problemsFor(image, image), []);
  assertEquals(problemsFor(image, "created: 1"), [
    'models[0].fallbacks[0]: expected a model that makes images, as this one does, got "one/second"',
  ]);
  assertEquals(problemsFor("created: 1", video), [
    'models[0].fallbacks[0]: expected a model that makes texts, as this one does, got "one/second"',
  ]);
  assertEquals(problemsFor(video, video), [
    "models[0].fallbacks: expected none, as videos have no fallbacks, got a list of 1",
  ]);
});

Deno.test("config check reports a redirect to a name that no provider of the model serves", () => {
  const redirectProblems = (target: string, more = "") =>
    problemsOf(`${PROVIDERS}
models:
  - id: one/old
    pricing: free
    redirected_to: { model: ${target}, from: 2026-12-01 }
    serves: [{ provider: one }]
  - { id: one/new, pricing: free, serves: [{ provider: one }] }
  - { id: two/other, pricing: free, serves: [{ provider: two }] }
${more}`);
  assertEquals(redirectProblems("new"), []);
  for (const target of ["other", "old", "missing"]) {
    assertEquals(redirectProblems(target), [
      "switchyard.yaml: models[0].redirected_to.model: expected the vendor's name of another model that a provider of " +
      `this one serves, got "${target}"`,
    ]);
  }
  assertEquals(redirectProblems("missing", '  - { id: "one/*", pricing: free }'), []);
});
