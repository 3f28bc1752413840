import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import * as fc from "fast-check";
import { parse, stringify } from "yaml";
import { importBifrost } from "../../src/cli/import/bifrost.ts";
import type { ImportResult } from "../../src/cli/import/imported_config.ts";
import { importLitellm } from "../../src/cli/import/litellm.ts";
import { importOpenrouterModels } from "../../src/cli/import/openrouter_models.ts";
import { decimalOf } from "../../src/cli/import/prices.ts";
import { importPriceMap } from "../../src/cli/import/price_map.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";

const LITERAL = "sk-literal-of-the-source";

/** What an import wrote; nothing of it has a literal secret. */
function written({ yaml, dropped, problems }: ImportResult) {
  assertEquals(problems, []);
  assert(!`${yaml}${dropped.join("\n")}`.includes(LITERAL));
  return parse(yaml);
}

const LITELLM = {
  model_list: [
    {
      model_name: "fast",
      litellm_params: { model: "openai/gpt-5.4-mini", api_key: "os.environ/OPENAI_API_KEY", weight: 3, rpm: 60 },
    },
    {
      model_name: "fast",
      litellm_params: {
        model: "azure/mini",
        api_base: "https://acme.openai.azure.com/",
        api_key: LITERAL,
        api_version: "2025-01-01",
      },
      model_info: { base_model: "azure/gpt-5.4-mini" },
    },
    { model_name: "local", litellm_params: { model: "ollama/llama3.2", api_base: "http://gpu:11434" } },
    {
      model_name: "team/large",
      litellm_params: { model: "groq/openai/gpt-oss-120b", temperature: 0.1 },
      model_info: { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7, output_cost_per_token_priority: 1e-6 },
    },
    { model_name: "vectors", litellm_params: { model: "text-embedding-3-small" } },
    { model_name: "elsewhere", litellm_params: { model: "bedrock/amazon.nova" } },
    { model_name: "anthropic/*", litellm_params: { model: "anthropic/*", api_key: "os.environ/ANTHROPIC_API_KEY" } },
    { model_name: "*", litellm_params: { model: "openai/*", api_key: "os.environ/OPENAI_API_KEY" } },
  ],
  litellm_settings: { fallbacks: [{ fast: ["local", "elsewhere"] }], drop_params: true },
  router_settings: { model_group_alias: { "gpt-4": "fast", lost: "elsewhere" } },
  general_settings: { master_key: LITERAL, database_url: "postgresql://user:password@db/x" },
};

Deno.test("import litellm carries models, weights, limits, aliases, fallbacks and prices", () => {
  const result = importLitellm(LITELLM, "config.yaml");
  const { server, providers, models, aliases } = written(result);
  assertEquals(server, { admin_key: "${LITELLM_MASTER_KEY}" });
  assertEquals([...result.secrets], [["AZURE_API_KEY", LITERAL], ["LITELLM_MASTER_KEY", LITERAL]]);
  assertEquals(providers["openai-fast"], { kind: "openai", api_key: "${OPENAI_API_KEY}", rpm: 60 });
  assertEquals(providers.openai, { kind: "openai", api_key: "${OPENAI_API_KEY}" });
  assertEquals(providers.azure, {
    kind: "azure",
    base_url: "https://acme.openai.azure.com",
    api_key: "${AZURE_API_KEY}",
  });
  assertEquals(providers.ollama, { kind: "ollama", base_url: "http://gpu:11434/v1" });
  const byId = new Map(models.map((model: { id: string }) => [model.id, model]));
  assertEquals([...byId.keys()], ["openai/fast", "ollama/local", "team/large", "anthropic/*", "openai/*"]);
  const fast = byId.get("openai/fast") as { fallbacks: string[]; serves: unknown[]; pricing: { prompt: string } };
  assertEquals(fast.serves, [
    { provider: "openai-fast", model: "gpt-5.4-mini", weight: 3 },
    { provider: "azure", model: "mini" },
  ]);
  assertEquals(fast.fallbacks, ["ollama/local"]);
  assert(Number(fast.pricing.prompt) > 0, "the price is built in");
  assertEquals(byId.get("team/large"), {
    id: "team/large",
    pricing: { prompt: "0.00000015", completion: "0.0000006" },
    pricing_tiers: { priority: { completion: "0.000001" } },
    serves: [{ provider: "groq", model: "openai/gpt-oss-120b" }],
  });
  assertEquals(aliases, { fast: "openai/fast", local: "ollama/local", "*": "openai/*", "gpt-4": "openai/fast" });
});

Deno.test("import litellm names what it does not carry", () => {
  const { dropped } = importLitellm(LITELLM, "config.yaml");
  assertEquals(dropped.filter((line) => !line.includes("gpt-4")), [
    "model_list[1] (fast): api_version: deployments are called by the v1 API",
    "model_list[3] (team/large): temperature has no counterpart",
    'model_list[4] (vectors): "text-embedding-3-small" is no model for text',
    'model_list[5] (elsewhere): the vendor of "bedrock/amazon.nova" is not one that is imported',
    "general_settings.database_url: keys, teams and budgets in LiteLLM's database are not read; create accounts and keys",
    "litellm_settings.drop_params: it has no counterpart",
    'the alias "lost": its model is not carried',
    'the fallback "elsewhere" of "openai/fast": that model is not carried',
  ]);
});

Deno.test("import litellm gives each deployment of a model a provider of its own", () => {
  const params = { api_base: "http://gpu:8000/v1", api_key: LITERAL };
  const { models, providers } = written(importLitellm({
    model_list: ["a", "b"].map((model) => ({
      model_name: "m",
      litellm_params: { model: `openai/${model}`, ...params },
    })),
  }, "config.yaml"));
  assertEquals(models[0].serves, [{ provider: "openai", model: "a" }, { provider: "openai-2", model: "b" }]);
  assertEquals(providers.openai, providers["openai-2"]);
});

Deno.test("import bifrost carries keys with weights, deployments, and virtual keys with their limits", () => {
  const result = importBifrost({
    providers: {
      openai: {
        keys: [
          { name: "A", value: "env.KEY_A", models: ["*"], weight: 0.7 },
          { name: "B", value: LITERAL, models: ["*"], weight: 0.3 },
        ],
        concurrency_and_buffer_size: { concurrency: 50, buffer_size: 100 },
      },
      azure: {
        keys: [{
          value: "env.AZURE_KEY",
          azure_key_config: { endpoint: "env.AZURE_ENDPOINT", deployments: { "gpt-5.4-mini": "mini" } },
        }],
      },
      bedrock: { keys: [{ bedrock_key_config: {} }] },
    },
    governance: {
      budgets: [{ id: "b", max_limit: 50, reset_duration: "1M" }],
      rate_limits: [{ id: "r", request_max_limit: 100, request_reset_duration: "1m" }],
      virtual_keys: [{
        name: "team one",
        value: "env.TEAM_KEY",
        budget_id: "b",
        rate_limit_id: "r",
        provider_configs: [
          { provider: "openai", allowed_models: ["gpt-5.4-mini"] },
          { provider: "azure", allowed_models: ["*"] },
        ],
      }],
    },
    mcp: {},
  }, "config.json");
  const { accounts, providers, models } = written(result);
  assertEquals([...result.secrets], [["OPENAI_API_KEY", LITERAL]]);
  assertEquals(providers.openai, {
    kind: "openai",
    concurrency: 50,
    credentials: [
      { name: "a", api_key: "${KEY_A}", weight: 0.7 },
      { name: "b", api_key: "${OPENAI_API_KEY}", weight: 0.3 },
    ],
  });
  assertEquals(providers.azure, { kind: "azure", base_url: "${AZURE_ENDPOINT}", api_key: "${AZURE_KEY}" });
  assertEquals(models.map(({ id }: { id: string }) => id), ["azure/gpt-5.4-mini", "openai/*"]);
  assertEquals(accounts, [{
    id: "team-one",
    keys: [{
      key: "${TEAM_KEY}",
      name: "team-one",
      providers: ["openai", "azure"],
      models: ["openai/gpt-5.4-mini", "azure/*"],
      budget: { amount: "50", per: "month" },
      rpm: 100,
    }],
  }]);
  assertStringIncludes(result.dropped.join("\n"), "providers.bedrock: the vendor is not one that is imported");
  assertStringIncludes(result.dropped.join("\n"), 'the balance of the account "team-one" is 0');
});

Deno.test("import openrouter-models carries facts and prices, and leaves out models without a fixed price", () => {
  const result = importOpenrouterModels({
    data: [
      {
        id: "acme/large:free",
        name: "Acme: $5 Large",
        context_length: 8_000,
        architecture: { input_modalities: ["text"], output_modalities: ["text"] },
        pricing: { prompt: "0.0000025", completion: "1e-5", image: "0.001", discount: 0 },
        supported_parameters: ["tools"],
      },
      { id: "acme/auto", pricing: { prompt: "-1" } },
      { id: "acme/painter", architecture: { output_modalities: ["image"] } },
    ],
  }, "models.json");
  assertEquals(written(result).models, [{
    id: "openrouter/acme/large:free",
    name: "Acme: $$5 Large",
    context_length: 8_000,
    architecture: { input_modalities: ["text"], output_modalities: ["text"] },
    pricing: { prompt: "0.0000025", completion: "0.00001", per_input_image: "0.001" },
    supported_parameters: ["tools"],
    serves: [{ provider: "openrouter", model: "acme/large:free" }],
  }]);
  assertEquals(result.dropped, ["acme/auto: its price is not fixed", "acme/painter: its output is not text"]);
});

Deno.test("models import carries the text models of the vendors that are asked for", () => {
  const map = {
    sample_spec: { mode: "one of chat, embedding" },
    "gpt-9": { litellm_provider: "openai", mode: "chat", input_cost_per_token: 2.5e-6, output_cost_per_token: 1e-5 },
    "groq/fast": { litellm_provider: "groq", mode: "chat", input_cost_per_token: 5.9e-7, output_cost_per_token: 0 },
    "vectors": { litellm_provider: "openai", mode: "embedding", input_cost_per_token: 2e-8 },
    "nova": { litellm_provider: "bedrock", mode: "chat", input_cost_per_token: 1e-6 },
  };
  const all = written(importPriceMap(map, "prices.json", null));
  assertEquals(all.models.map(({ id }: { id: string }) => id), ["openai/gpt-9", "groq/fast"]);
  const some = written(importPriceMap(map, "prices.json", new Set(["groq"])));
  assertEquals(some.models, [{
    id: "groq/fast",
    pricing: { prompt: "0.00000059", completion: "0" },
    serves: [{ provider: "groq", model: "fast" }],
  }]);
});

Deno.test("law: an import reads anything, writes valid YAML, and no secret is in the file or the report", () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom("os.environ/NAME", "env.NAME", "openai/x", "*", "$" + "{X}", "azure"),
  );
  const value = fc.oneof(fc.jsonValue(), text, fc.double(), fc.constant([{}]));
  const params = fc.record({
    model: fc.oneof(text, value),
    api_key: fc.constant(LITERAL),
    api_base: fc.oneof(fc.webUrl(), value),
    rpm: value,
    weight: value,
    extra_headers: fc.constant({ "x-key": LITERAL }),
    input_cost_per_token: value,
  }, { requiredKeys: [] });
  const litellm = fc.record({
    model_list: fc.array(
      fc.record({ model_name: fc.oneof(text, value), litellm_params: params }, { requiredKeys: [] }),
    ),
    router_settings: fc.record({ model_group_alias: fc.dictionary(text, text), fallbacks: value }),
    general_settings: fc.record({ master_key: fc.constant(LITERAL) }),
  }, { requiredKeys: [] });
  const key = fc.record({
    value: fc.constant(LITERAL),
    name: value,
    weight: value,
    models: value,
    azure_key_config: value,
  });
  const bifrost = fc.record({
    providers: fc.dictionary(fc.constantFrom("openai", "azure", "groq", "x"), fc.record({ keys: fc.array(key) })),
    governance: fc.record({ virtual_keys: fc.array(fc.record({ name: value, value: fc.constant(LITERAL) })) }),
  }, { requiredKeys: [] });
  for (
    const [source, read] of [
      [fc.oneof(litellm, value), importLitellm],
      [fc.oneof(bifrost, value), importBifrost],
      [value, importOpenrouterModels],
      [value, (map: unknown, name: string) => importPriceMap(map, name, null)],
    ] as const
  ) {
    fc.assert(
      fc.property(source, (each) => {
        const { yaml, dropped, problems } = read(each, "source");
        assert(!`${yaml}${dropped.join("\n")}${problems.join("\n")}`.includes(LITERAL));
        parse(yaml);
      }),
      { numRuns: 60 },
    );
  }
});

Deno.test("decimalOf() writes numbers without an exponent", () => {
  assertEquals([1e-7, 2.5e-6, 0.004, 12, 0].map(decimalOf), ["0.0000001", "0.0000025", "0.004", "12", "0"]);
  assertEquals([decimalOf(-1), decimalOf(null)], [null, null]);
});

Deno.test("the import commands write files that pass config check, with secrets in a file of their own", async () => {
  const folder = await Deno.makeTempDir();
  const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GROQ_API_KEY: "k" };
  const run = async (line: string, more: Record<string, string> = {}) => {
    const child = startGatewayProcess({ args: line.split(" "), folder, env: { ...env, ...more } });
    const { code } = await child.ended;
    return { code, said: child.output(), complaint: child.log().trim() };
  };
  try {
    await Deno.writeTextFile(`${folder}/config.yaml`, stringify(LITELLM));
    const imported = await run("import litellm config.yaml");
    assertEquals([imported.code, imported.complaint], [0, ""]);
    assertStringIncludes(imported.said, "Wrote switchyard.yaml with 6 providers, 3 models, 2 patterns of models");
    assertStringIncludes(imported.said, "readable by its owner alone: AZURE_API_KEY, LITELLM_MASTER_KEY");
    assert(!imported.said.includes(LITERAL));
    const secrets = await Deno.readTextFile(`${folder}/.env`);
    assertEquals(secrets, `AZURE_API_KEY='${LITERAL}'\nLITELLM_MASTER_KEY='${LITERAL}'\n`);
    if (Deno.build.os !== "windows") assertEquals(((await Deno.stat(`${folder}/.env`)).mode ?? 0) & 0o777, 0o600);
    const checked = await run("config check", { AZURE_API_KEY: LITERAL, LITELLM_MASTER_KEY: LITERAL });
    assertEquals([checked.code, checked.complaint], [0, ""]);
    const again = await run("import litellm config.yaml");
    assertEquals(again.code, 2);
    assertStringIncludes(again.complaint, 'the file "switchyard.yaml" exists already');
    await Deno.writeTextFile(`${folder}/broken.yaml`, `a: [${LITERAL}`);
    const broken = await run("import litellm broken.yaml");
    assertEquals(broken.code, 2);
    assert(!broken.complaint.includes(LITERAL));
    assertEquals((await run("import portkey x.json")).code, 2);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
