import { assertEquals } from "@std/assert";
import { configOf, problemsOf } from "./support.ts";

const PROVIDERS = `
providers:
  own: { kind: openai, base_url: "http://127.0.0.1:1/v1" }
  sandbox: { kind: openai, base_url: "http://127.0.0.1:2/v1" }
  sandbox-google: { kind: google, base_url: "http://127.0.0.1:2" }
`;
const model = (fields: string) => `${PROVIDERS}models:\n  - { id: own/m, ${fields} }\n`;

Deno.test("config check refuses a model without a price, and names it", () => {
  const expected = [
    'switchyard.yaml: models[0].pricing: expected at least one price, or "free" for a model that costs nothing ' +
    '("own/m"), got nothing',
  ];
  assertEquals(problemsOf(model("serves: [{ provider: own }]")), expected);
  assertEquals(problemsOf(model("pricing: {}, serves: [{ provider: own }]")), expected);
  assertEquals(problemsOf(model("serves: [{ provider: own }, { provider: sandbox }]")), expected);
});

Deno.test("a price, free, a video and the sandbox are enough", () => {
  for (
    const fields of [
      "pricing: free, serves: [{ provider: own }]",
      'pricing: { completion: "0" }, serves: [{ provider: own }]',
      'pricing: { overrides: [{ batch: true, prompt: "1" }] }, serves: [{ provider: own }]',
      'video: { modes: [text2video], price_per_second: { default: "1" } }, serves: [{ provider: own }]',
      "serves: [{ provider: sandbox }, { provider: sandbox-google }]",
    ]
  ) assertEquals(problemsOf(model(fields)), [], fields);
  assertEquals(configOf(model("pricing: free, serves: [{ provider: own }]")).models[0]?.isFree, true);
});

Deno.test("a price that no endpoint charges names the missing section", () => {
  const problems = problemsOf(
    model('pricing: { per_image: "1", character: "1" }, image: {}, serves: [{ provider: own }]'),
  );
  assertEquals(problems.length, 1);
  assertEquals(
    problems[0]?.includes("models[0].pricing.character") && problems[0].includes("the section speech"),
    true,
  );
});
