import { assertEquals, assertStringIncludes } from "@std/assert";
import { problemsOf } from "./support.ts";

const SYNTAX: Record<string, [text: string, words: string]> = {
  "a key that stands twice": ["server: {}\nserver: {}", "line 2: expected each key once"],
  "a JSON key that stands twice": ['{"store": "kv:a",\n "store": "kv:b"}', "line 2: expected each key once"],
  "two documents": ["store: kv:a\n---\nstore: kv:b", "line 2: expected one document"],
  "an open quote": ['store: "kv:a\nfiles: b', "line 1: expected a closing quote"],
  "a tag": ["store: !!js/function kv:a", "line 1: expected only the tags"],
  "a list in place of sections": ["- store", "expected a map of sections, got a list"],
  "an unknown alias": ["store: *other", "expected aliases of defined anchors"],
  "the file of LiteLLM": ["general_settings: {}\nmodel_list: []", '"switchyard import litellm FILE'],
  "the file of Bifrost": [
    '{"providers": {"openai": {"keys": []}}, "config_store": {}}',
    '"switchyard import bifrost FILE',
  ],
  "a map as a key": ["{ a: b }: c", "expected keys of plain text"],
  "an expression as a key": ["${NAME}: c", "expected ${…} in values only"],
  "an expression without an end": ["store: 'kv:${NAME'", "expected ${NAME}, ${NAME:-default}"],
  "an expression with a bad name": ["store: 'kv:${1st}'", "expected ${NAME}, ${NAME:-default}"],
  "nesting without an end": [`store: ${"[".repeat(5000)}`, "switchyard.yaml: line 1: expected"],
  "deep nesting": [`models: ${"[".repeat(40)}${"]".repeat(40)}`, "expected a tree of at most 32 levels"],
  "an alias of itself": ["models: &all [*all, *all, *all]", "expected a tree of at most 32 levels"],
  "private-use characters": ["store: kv:\ue0000\ue001", "private-use character"],
};

for (const [mistake, [text, words]] of Object.entries(SYNTAX)) {
  Deno.test(`readConfig() refuses ${mistake}`, () => {
    assertStringIncludes(problemsOf(text).join("\n"), words);
  });
}

Deno.test("readConfig() refuses aliases that multiply, before they fill the memory", () => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const items = level === 0 ? '"x"' : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array(9).fill(items).join(", ")}]`;
  });
  assertStringIncludes(problemsOf(levels.join("\n")).join("\n"), "at most 100 values");
});

const MARKED: Record<string, [text: string, problem: string[]]> = {
  "a tab": ["limits:\n\tmemory: 1GiB", [
    "switchyard.yaml: line 2: expected spaces as indentation, got a tab",
    "  2 | →memory: ····",
    "    | ^",
  ]],
  "an indentation of no level": ["models:\n  - id: a/b\n   limits: { memory: 1GiB }", [
    'switchyard.yaml: line 3: expected another indentation, or a "-" before an item of the list',
    "  3 |    limits: { memory: ···· }",
    "    |    ^",
  ]],
  "an open brace, where it is opened": ["store: kv:a\nlimits: { memory: 1GiB\n\nfiles: b\n", [
    'switchyard.yaml: line 2: expected a closing "}"',
    "  2 | limits: { memory: ····",
    "    |         ^",
  ]],
  "an open quote, where it is opened": ['store: "kv:a\nfiles: b', [
    "switchyard.yaml: line 1: expected a closing quote",
    '  1 | store: "··:·',
    "    |        ^",
  ]],
  "a word without a colon": ["store: kv:a\nlimits memory", [
    'switchyard.yaml: line 2: expected a colon and a space after the key: "key: value"',
    "  2 | ······ ······",
    "    | ^",
  ]],
};

for (const [mistake, [text, problem]] of Object.entries(MARKED)) {
  Deno.test(`readConfig() shows the line and the place of ${mistake}`, () => {
    assertEquals(problemsOf(text).join("\n").split("\n"), problem);
  });
}

Deno.test("readConfig() shows no value of a file that is not YAML", () => {
  const secrets = [
    'providers:\n  one: { api_key: "canary-0123456789\n',
    "admin_key: canary: b",
    "{ api_key: canary, b: [",
    "api_key: canary\n- x",
    "api_key: @canary",
    "canary\nstore: b",
    "store: b\ncanary",
  ];
  for (const text of secrets) {
    const problems = problemsOf(text);
    assertEquals(problems.length, 1, text);
    assertEquals(problems[0]?.includes("canary"), false, text);
  }
});

Deno.test("readConfig() reads on past a byte order mark", () => {
  assertEquals(problemsOf("\ufeffstore: kv:a"), []);
});
