import { assert, assertEquals, assertThrows } from "@std/assert";
import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/tree/config_error.ts";

function problemsOf(tree: Record<string, unknown>): readonly string[] {
  const text = JSON.stringify({ providers: {}, models: [], ...tree });
  return assertThrows(() => readConfig(text, "many.json", () => undefined), ConfigError).problems;
}

/** An object with this many fields. */
function unknown(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`unknown_setting_${index}`, index]));
}

Deno.test("a configuration with many problems is read no further than the first hundred", () => {
  const places = [
    unknown(80_000),
    { server: unknown(80_000) },
    { providers: { a: { kind: "openai", api_key: "k", ...unknown(80_000) } } },
    { providers: Object.fromEntries(Object.keys(unknown(20_000)).map((name) => [name, {}])) },
    { models: Array.from({ length: 20_000 }, () => ({ serves: 1 })) },
  ];
  for (const place of places) {
    const problems = problemsOf(place);
    assert(problems.length <= 101);
    assertEquals(problems.at(-1), "many.json: there are more problems than these");
  }
  assertEquals(problemsOf({ models: Array.from({ length: 50 }, () => ({ serves: 1 })) }).length, 100);
});
