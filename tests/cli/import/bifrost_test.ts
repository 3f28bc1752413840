import { assertEquals, assertStringIncludes } from "@std/assert";
import { importBifrost } from "../../../src/entry/cli/import/bifrost.ts";
import { LITERAL, written } from "../../support/imported.ts";

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
          models: ["*"],
          azure_key_config: { endpoint: "env.AZURE_ENDPOINT", deployments: { "gpt-5.4-mini": "mini" } },
        }],
      },
      elevenlabs: { keys: [{ value: "env.ELEVEN" }] },
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
          { provider: "openai", allowed_models: ["gpt-5.4-mini"], key_ids: ["*"] },
          { provider: "azure", allowed_models: ["*"], key_ids: ["*"] },
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
  assertStringIncludes(result.dropped.join("\n"), "providers.elevenlabs: the vendor is not one that is imported");
  assertStringIncludes(result.dropped.join("\n"), 'the balance of the account "team-one" is 0');
});

/** Shapes of keys as in the examples of Bifrost, with names of our own. */
const PROVIDERS = {
  openai: { keys: [{ id: "main", name: "openai-main", value: "env.OPENAI", models: ["*"] }] },
  groq: {
    keys: [
      { id: "one", name: "groq-one", value: "env.GROQ_ONE", models: ["llama", "whisper-large-v3"] },
      { id: "two", name: "groq-two", value: "env.GROQ_TWO", models: ["llama", "whisper-large-v3"] },
    ],
  },
  vertex: {
    keys: [
      {
        id: "us",
        models: ["google/gemini-2.5-pro"],
        vertex_key_config: { project_id: "example", region: "us-east1", auth_credentials: "env.GOOGLE_US" },
      },
      {
        id: "eu",
        models: ["google/gemini-2.5-pro", "claude-haiku-4-5"],
        vertex_key_config: { project_id: "env.PROJECT", region: "europe-west1", auth_credentials: "" },
      },
    ],
  },
  elevenlabs: { keys: [{ value: "env.ELEVEN", models: ["*"] }] },
};

interface Key {
  readonly providers?: string[];
  readonly models?: string[];
}

/** The carried keys of virtual keys by name, and the report. */
function keysOf(
  virtualKeys: readonly Record<string, unknown>[],
  more: Record<string, unknown> = {},
  root: Record<string, unknown> = {},
) {
  const value = (index: number) => `env.VIRTUAL_${index}`;
  const result = importBifrost({
    ...root,
    providers: PROVIDERS,
    governance: {
      virtual_keys: virtualKeys.map((key, index) => ({ value: value(index), ...key })),
      ...more,
    },
  }, "config.json");
  const { accounts = [] } = written(result);
  const keys: Record<string, Record<string, unknown>> = {};
  for (const account of accounts) {
    for (const { key: _key, name, ...settings } of account.keys) keys[name] = settings;
  }
  return { accounts, keys, report: result.dropped.join("\n") };
}

const all = { allowed_models: ["*"], key_ids: ["*"] };
const openAll = [{ provider: "openai", ...all }];

Deno.test("import bifrost leaves out a virtual key that would be wider", () => {
  const { keys, report } = keysOf([
    { name: "elsewhere", provider_configs: [{ provider: "elevenlabs", ...all }] },
    { name: "nothing", provider_configs: [] },
    { name: "no-models", provider_configs: [{ provider: "openai", allowed_models: [], key_ids: ["*"] }] },
    { name: "no-keys", provider_configs: [{ provider: "openai", allowed_models: ["*"] }] },
    { name: "one-key", provider_configs: [{ provider: "groq", allowed_models: ["*"], key_ids: ["one"] }] },
    { name: "all-but", provider_configs: [{ provider: "openai", ...all, blacklisted_models: ["gpt-5.5"] }] },
    { name: "capped", provider_configs: [{ provider: "openai", ...all, rate_limit_id: "r" }] },
    { name: "profile", provider_configs: openAll, access_profile_id: 1 },
    { name: "lost-team", provider_configs: openAll, team_id: "lost" },
    { name: "lost-budget", provider_configs: openAll, budget_id: "lost" },
    { name: "free-budget", provider_configs: openAll, budgets: [{ max_limit: 0, reset_duration: "1d" }] },
    { name: "slow", provider_configs: openAll, rate_limit: { request_max_limit: 5, request_reset_duration: "1h" } },
    { name: "late", provider_configs: openAll, expires_at: "soon" },
    { name: "off", provider_configs: openAll, is_active: false },
    { name: "lost-customer", provider_configs: openAll, team_id: "t" },
    { name: "kept", provider_configs: openAll },
    { name: "namesake", provider_configs: openAll, team_id: 2 },
  ], { teams: [{ id: "t", name: "Team", customer_id: "lost" }, { id: 2, name: "kept" }] });
  assertEquals(keys, { kept: { providers: ["openai"] } });
  for (
    const line of [
      "virtual_keys[0].provider_configs[0]: its provider is not carried; the key may not use this provider",
      "virtual_keys[0]: it may use nothing that is carried; the key is left out",
      "virtual_keys[1]: it may use nothing that is carried",
      "virtual_keys[2].provider_configs[0]: its allowed_models is empty, which allows none",
      "virtual_keys[3].provider_configs[0]: its key_ids is empty, which allows none",
      "virtual_keys[4].provider_configs[0]: its key_ids are not all keys of the provider",
      "virtual_keys[5].provider_configs[0]: blacklisted_models and expressions have no counterpart",
      "virtual_keys[6].provider_configs[0]: limits of one provider have no counterpart",
      "virtual_keys[7]: its access profile is not in the file",
      "virtual_keys[8]: its team is not in the file",
      "virtual_keys[9]: its budget is not in the file",
      "virtual_keys[10]: its budget has no amount above 0 or no period",
      "virtual_keys[11]: its limit of requests is less than one a minute",
      "virtual_keys[12]: its expires_at is no time",
      "virtual_keys[13]: it is not active",
      "virtual_keys[14]: the limits of the customer of its team have no counterpart",
      'virtual_keys[16]: another account has the name "kept"',
    ]
  ) assertStringIncludes(report, line);
});

Deno.test("import bifrost leaves providers that are not carried out of a virtual key", () => {
  const { keys, report } = keysOf([{
    name: "mixed",
    provider_configs: [{ provider: "elevenlabs", ...all }, { provider: "groq", ...all }],
  }]);
  assertEquals(keys, { mixed: { providers: ["groq"] } });
  assertStringIncludes(report, "provider_configs[0]: its provider is not carried; the key may not use this provider");
});

Deno.test("import bifrost carries the models and the keys that a virtual key may use", () => {
  const { keys } = keysOf([
    {
      name: "eu",
      provider_configs: [{ provider: "vertex", allowed_models: ["*"], key_ids: ["eu"] }],
    },
    {
      name: "expressions",
      provider_configs: [{
        provider: "vertex",
        allowed_models: ["regex:.*gemini.*", "claude-haiku-4-5"],
        blacklisted_models: ["claude-haiku-4-5"],
        key_ids: ["*"],
      }],
    },
    {
      name: "every",
      allow_all_providers: true,
      provider_configs: [{ provider: "groq", ...all, allowed_models: ["llama"] }],
    },
  ]);
  assertEquals(keys, {
    eu: { providers: ["vertex-2"] },
    expressions: { models: ["vertex/google/gemini-2.5-pro"], providers: ["vertex", "vertex-2"] },
    every: {
      models: ["groq/llama", "openai/*", "vertex/*"],
      providers: ["groq", "openai", "vertex", "vertex-2"],
    },
  });
});

Deno.test('import bifrost reads empty lists as all in a file with "version": 1', () => {
  const { keys } = keysOf([{ name: "a", provider_configs: [{ provider: "openai" }] }, { name: "b" }], {}, {
    version: 1,
  });
  assertEquals(keys, {
    a: { providers: ["openai"] },
    b: { providers: ["openai", "groq", "vertex", "vertex-2"] },
  });
});

Deno.test("import bifrost carries limits, as a narrower one where there is no other", () => {
  const { accounts, keys, report } = keysOf([
    {
      id: "k1",
      name: "budgets",
      provider_configs: openAll,
      budgets: [{ max_limit: 5, reset_duration: "1h" }],
      expires_at: "2027-01-31T12:00:00+01:00",
    },
    { name: "rates", provider_configs: openAll, rate_limit_id: "r" },
    { name: "member", provider_configs: openAll, team_id: "t" },
    { name: "other-member", provider_configs: openAll, team_id: "t" },
    { name: "quarter", provider_configs: openAll, budgets: [{ max_limit: 9, reset_duration: "1Q" }] },
  ], {
    budgets: [
      { id: "b1", virtual_key_id: "k1", max_limit: 50, reset_duration: "1M" },
      { id: "b2", team_id: "t", max_limit: 100, reset_duration: "1w" },
    ],
    rate_limits: [{
      id: "r",
      request_max_limit: 10,
      request_reset_duration: "1s",
      token_max_limit: 60_000,
      token_reset_duration: "1h",
    }],
    teams: [{ id: "t", name: "Search Team" }],
  });
  assertEquals(keys, {
    budgets: { providers: ["openai"], budget: { amount: "50", per: "month" }, expires_at: 1_801_393_200 },
    rates: { providers: ["openai"], rpm: 10, tpm: 1_000 },
    member: { providers: ["openai"] },
    "other-member": { providers: ["openai"] },
    quarter: { providers: ["openai"], budget: { amount: "9", per: "total" } },
  });
  const byId = new Map(accounts.map(({ id, keys: _keys, ...settings }: { id: string; keys: Key[] }) => [id, settings]));
  assertEquals(byId.get("Search-Team"), { budget: { amount: "100", per: "week" } });
  assertEquals(byId.get("budgets"), { budget: { amount: "5", per: "day" } });
  assertEquals(accounts.length, 4);
  assertStringIncludes(report, "narrower: its budget of 1h holds for a day");
  assertStringIncludes(
    report,
    "narrower: 10 requests in 1s became 10 a minute, 60000 tokens in 1h became 1000 a minute",
  );
  assertStringIncludes(report, "narrower: its budget of 1Q holds for good");
});

Deno.test("import bifrost leaves out keys of teams whose limits cannot be carried", () => {
  const { keys, report } = keysOf([
    { name: "a", provider_configs: openAll, team_id: "below" },
    { name: "b", provider_configs: openAll, customer_id: "c" },
    { id: "m", name: "d", provider_configs: openAll },
  ], {
    customers: [{ id: "c", name: "Acme", budgets: [{ id: "x", max_limit: 5, reset_duration: "1d" }] }],
    teams: [{ id: "below", name: "Below", customer_id: "c" }],
    model_configs: [{ id: "z", model_name: "gpt-5.5", scope: "virtual_key", scope_id: "m", rate_limit_id: "r" }],
  });
  assertEquals(keys, { b: { providers: ["openai"] } });
  assertStringIncludes(report, "virtual_keys[0]: the limits of the customer of its team have no counterpart");
  assertStringIncludes(report, "virtual_keys[2]: limits of single models have no counterpart");
});

Deno.test("import bifrost carries deployments with the section of what they are for", () => {
  const deployments = {
    "gpt-5.4-mini": "mini",
    "text-embedding-3-small": "vectors",
    whisper: "whisper",
    "gpt-4o-mini-tts": "voice",
    "gpt-image-1": "pictures",
    "claude-haiku-4-5": "haiku",
    "gpt-realtime": "live",
  };
  const key = (azure_key_config: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
    models: ["*"],
    azure_key_config,
    ...more,
  });
  const result = importBifrost({
    providers: {
      azure: {
        keys: [
          key({ endpoint: "https://a.openai.azure.com/", deployments }, { value: LITERAL }),
          key({
            endpoint: "https://b.openai.azure.com",
            tenant_id: "env.TENANT",
            client_id: "env.CLIENT",
            client_secret: "env.SECRET",
            scopes: ["https://ai.azure.com/.default"],
          }, { aliases: { o9: { model_id: "nine", model_name: "o9" }, far: { model_id: "x", endpoint: "y" } } }),
          key({ endpoint: "https://c.openai.azure.com", client_id: "env.CLIENT" }),
        ],
      },
    },
  }, "config.json");
  const { models, providers } = written(result);
  const sections = models.map(({ id, serves, pricing: _pricing, ...fields }: Record<string, unknown>) => [
    id,
    Object.keys(fields).filter((field) => ["embedding", "transcription", "speech", "image"].includes(field)),
    serves,
  ]);
  assertEquals(sections, [
    ["azure/gpt-5.4-mini", [], [{ provider: "azure", model: "mini" }]],
    ["azure/text-embedding-3-small", ["embedding"], [{ provider: "azure", model: "vectors" }]],
    ["azure/whisper", ["transcription"], [{ provider: "azure", model: "whisper" }]],
    ["azure/gpt-4o-mini-tts", ["speech"], [{ provider: "azure", model: "voice" }]],
    ["azure/gpt-image-1", ["image"], [{ provider: "azure", model: "pictures" }]],
    ["azure/claude-haiku-4-5", [], [{ provider: "azure-2", model: "haiku" }]],
    ["azure/o9", [], [{ provider: "azure-3", model: "nine" }]],
  ]);
  assertEquals(providers["azure-2"], {
    kind: "anthropic",
    base_url: "https://a.openai.azure.com/anthropic",
    api_key: "${AZURE_API_KEY}",
  });
  assertEquals(providers["azure-3"].entra_id, {
    tenant: "${TENANT}",
    client_id: "${CLIENT}",
    client_secret: "${SECRET}",
    scope: "https://ai.azure.com/.default",
  });
  const report = result.dropped.join("\n");
  assertStringIncludes(report, "providers.azure.keys[0], model gpt-realtime: it is not served");
  assertStringIncludes(report, "keys[1].aliases.far: endpoint of an alias has no counterpart, so it is left out");
});

Deno.test("import bifrost carries the vendors that the gateway serves, with the models that are named", () => {
  const one = (models: string[], more: Record<string, unknown> = {}) => ({
    keys: [{ name: "key", value: "env.KEY", models, ...more }],
  });
  const result = importBifrost({
    providers: {
      cohere: one(["command-a", "embed-v4.0", "rerank-v3.5"]),
      replicate: one(["black-forest-labs/flux-schnell"]),
      runway: one(["gen4_turbo", "gen9"]),
      ollama: { keys: [{ name: "local", models: ["*"], ollama_key_config: { url: "http://gpu:11434" } }] },
      vllm: {
        keys: [{ name: "own", models: ["llama"], vllm_key_config: { url: "env.VLLM", model_name: "llama" } }],
        network_config: { stream_idle_timeout_in_seconds: 30 },
      },
      mistral: one([]),
      groq: one(["fast", "ears"], {
        aliases: { fast: "llama-3", ears: { model_id: "whisper-large-v3" } },
        enabled: true,
      }),
      deepseek: one(["*"], { enabled: false }),
      xai: one(["*"], { blacklisted_models: ["grok-4.6"] }),
      elevenlabs: one(["*"]),
      bedrock: {
        keys: [
          {
            name: "pair",
            models: ["us.anthropic.claude-haiku-4-5-v1:0", "titan"],
            aliases: { titan: "amazon.titan-embed-text-v2:0" },
            bedrock_key_config: {
              access_key: "env.AWS_KEY",
              secret_key: "env.AWS_SECRET",
              session_token: "env.AWS_TOKEN",
              region: "eu-west-1",
            },
          },
          {
            name: "token",
            value: "env.BEDROCK",
            models: ["fast"],
            bedrock_key_config: { deployments: { fast: "nova" } },
          },
          { name: "role", models: ["nova"], bedrock_key_config: { role_arn: "env.ROLE" } },
        ],
      },
    },
  }, "config.json");
  const { models, providers } = written(result);
  assertEquals(
    models.map(({ id, serves }: { id: string; serves: { provider: string }[] }) => [id, serves?.[0]?.provider]),
    [
      ["cohere/command-a", "cohere"],
      ["cohere/embed-v4.0", "cohere"],
      ["cohere/rerank-v3.5", "cohere-rerank"],
      ["replicate/black-forest-labs/flux-schnell", "replicate"],
      ["runway/gen4_turbo", "runway"],
      ["vllm/llama", "vllm"],
      ["groq/fast", "groq"],
      ["groq/ears", "groq"],
      ["bedrock/us.anthropic.claude-haiku-4-5-v1:0", "bedrock"],
      ["bedrock/titan", "bedrock"],
      ["bedrock/fast", "bedrock-2"],
      ["ollama/*", undefined],
    ],
  );
  const ears = models.find(({ id }: { id: string }) => id === "groq/ears");
  assertEquals([ears.transcription, ears.serves], [{}, [{ provider: "groq", model: "whisper-large-v3" }]]);
  assertEquals(providers.ollama, { kind: "ollama", base_url: "http://gpu:11434/v1" });
  assertEquals(providers.bedrock, {
    kind: "bedrock",
    region: "eu-west-1",
    api_key: "${AWS_KEY}",
    secret_key: "${AWS_SECRET}",
    session_token: "${AWS_TOKEN}",
  });
  assertEquals(providers["bedrock-2"], {
    kind: "bedrock",
    region: "${AWS_REGION:-us-east-1}",
    api_key: "${BEDROCK}",
  });
  assertEquals(providers.vllm, { kind: "vllm", base_url: "${VLLM}/v1", timeouts: { idle: 30 } });
  const report = result.dropped.join("\n");
  for (
    const line of [
      "providers.runway, model gen9: the modes and lengths of its videos are not in the source",
      'providers.mistral.keys[0]: its "models" is empty, which allows none; with "version": 1 in the file it allows all',
      "providers.xai.keys[0]: a pattern cannot leave out blacklisted_models; only models by name are carried",
      "providers.deepseek.keys[0]: it is not enabled",
      "providers.elevenlabs: the vendor is not one that is imported",
      "providers.bedrock.keys[2]: role_arn has no counterpart",
    ]
  ) assertStringIncludes(report, line);
});
