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
      'pricing: { overrides: [{ batch: true, prompt: "0.001" }] }, serves: [{ provider: own }]',
      'video: { modes: [text2video], price_per_second: { default: "1" } }, serves: [{ provider: own }]',
      "serves: [{ provider: sandbox }, { provider: sandbox-google }]",
    ]
  ) assertEquals(problemsOf(model(fields)), [], fields);
  assertEquals(configOf(model("pricing: free, serves: [{ provider: own }]")).models[0]?.isFree, true);
});

Deno.test("a price that no endpoint charges names the missing section", () => {
  const problems = problemsOf(
    model('pricing: { per_image: "1", character: "0.001" }, image: {}, serves: [{ provider: own }]'),
  );
  assertEquals(problems.length, 1);
  assertEquals(
    problems[0]?.includes("models[0].pricing.character") && problems[0].includes("the section speech"),
    true,
  );
});

Deno.test("the price of a million tokens as that of one is refused, wherever it is written", () => {
  const million = (at: string, name: string, price: string, exact: string) =>
    `switchyard.yaml: ${at}.${name}: expected a price of at most 0.01 USD; the price of a million is written ` +
    `${name}_per_million: "${price}", or ${name}: "${exact}", got "${price}"`;
  assertEquals(problemsOf(model('pricing: { prompt: "2.50", completion: "0.15" }, serves: [{ provider: own }]')), [
    million("models[0].pricing", "prompt", "2.50", "0.0000025"),
    million("models[0].pricing", "completion", "0.15", "0.00000015"),
  ]);
  assertEquals(
    problemsOf(model(
      'pricing: { prompt: "0.000001", overrides: [{ batch: true, prompt: "1" }] }, ' +
        'pricing_tiers: { flex: { completion: "10" } }, serves: [{ provider: own }]',
    )),
    [
      million("models[0].pricing.overrides[0]", "prompt", "1", "0.000001"),
      million("models[0].pricing_tiers.flex", "completion", "10", "0.00001"),
    ],
  );
  assertEquals(problemsOf(`${PROVIDERS}models:\n  - { id: own/*, pricing: { prompt: "3" } }\n`), [
    million("models[0].pricing", "prompt", "3", "0.000003"),
  ]);
});

Deno.test("implausible prices of searches, images and seconds are refused, plausible ones are not", () => {
  assertEquals(
    problemsOf(model('pricing: { prompt: "0.001", web_search: "10" }, serves: [{ provider: own }]')),
    ['switchyard.yaml: models[0].pricing.web_search: expected a price of at most 1 USD, got "10"'],
  );
  const video = (price: string) =>
    problemsOf(
      model(`video: { modes: [text2video], price_per_second: { default: "${price}" } }, serves: [{ provider: own }]`),
    );
  assertEquals(video("101"), [
    'switchyard.yaml: models[0].video.price_per_second.default: expected a price of at most 100 USD, got "101"',
  ]);
  assertEquals(video("100"), []);
  assertEquals(problemsOf(model('pricing: { per_image: "100" }, image: {}, serves: [{ provider: own }]')), []);
});

Deno.test("a price of a million becomes that of one to the last digit, and is not written beside it", () => {
  const pricingOf = (fields: string) => configOf(model(`${fields}, serves: [{ provider: own }]`)).models[0]?.prices;
  assertEquals(
    pricingOf(
      'pricing: { prompt_per_million: "2.50", completion_per_million: "12", input_cache_read_per_million: "0.0375" }',
    )
      ?.pricing,
    { prompt: "0.0000025", completion: "0.000012", input_cache_read: "0.0000000375" },
  );
  const { overrides, tiers } = pricingOf(
    'pricing: { prompt: "0.000001", overrides: [{ batch: true, prompt_per_million: "0.5" }] }, ' +
      'pricing_tiers: { flex: { completion_per_million: "1000" } }',
  )!;
  assertEquals([overrides[0]?.pricing, tiers.flex?.pricing], [{ prompt: "0.0000005" }, { completion: "0.001" }]);
  assertEquals(
    problemsOf(model('pricing: { prompt: "0.000001", prompt_per_million: "1" }, serves: [{ provider: own }]')),
    [
      "switchyard.yaml: models[0].pricing.prompt_per_million: expected no price of a million, because the section has " +
      'prompt, got "1"',
    ],
  );
  assertEquals(
    configOf(`${PROVIDERS}models:\n  - { id: own/*, pricing: { prompt_per_million: "3" } }\n`).models.length,
    0,
  );
  assertEquals(
    problemsOf(model('pricing: { prompt_per_million: "2,5" }, serves: [{ provider: own }]')).length > 0,
    true,
  );
});
