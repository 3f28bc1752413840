import { assertEquals, assertStringIncludes } from "@std/assert";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { PROVIDER_KINDS } from "../../src/vendors/upstreams/kinds.ts";
import { PRESET_NAMES } from "../../src/vendors/upstreams/vendors.ts";
import { atLeast } from "../support/items.ts";
import { configOf, problemsOf } from "./support.ts";

const SAMPLE = `
server:
  host: 127.0.0.1            # HOST
  port: 8787
  base_url: http://127.0.0.1:8787
  admin_key: \${SWITCHYARD_ADMIN_KEY:-}
store: kv:./data/switchyard.db
files: ./data/files
accounts:
  - id: demo
    balance: "25.00"
    keys: ["sk-demo-0123456789abcdef"]
    webhook_secret: \${DEMO_WEBHOOK_SECRET}
providers:
  openai: { kind: openai, base_url: https://api.openai.com/v1, api_key: \${OPENAI_API_KEY} }
  azure:  { kind: openai, base_url: https://unit.example/openai/v1/, api_key: \${AZURE_KEY}, headers: { API-Key: \${AZURE_KEY} } }
models:
  - id: openai/gpt-image-1.5
    canonical_slug: openai/gpt-image-1.5-2025-12
    name: GPT Image 1.5
    pricing: { prompt: "0.000005", completion: "0.00001" }
    image: { series: default, edits: true }
    serves:
      - { provider: openai, model: gpt-image-1.5, weight: 80 }
      - { provider: azure,  model: gpt-image-1.5, weight: 20 }
  - id: lumen/reel-1
    video: { modes: [text2video, img2video], price_per_second: { "720p": "0.10", "1080p": "0.30" } }
    serves:
      - { provider: openai }
limits:
  video_polling: { requests: 60, per: 60, burst: 10 }
billing: { preauthorize: true }
webhooks: { timeout: 10 }
egress:
  allow: [127.0.0.1/32]
  ca_file: null
`;

const SAMPLE_VALUES = { OPENAI_API_KEY: "key-one", AZURE_KEY: "key-two", DEMO_WEBHOOK_SECRET: "hook-secret-0123" };

Deno.test("readConfig() reads every section of the documented sample", () => {
  const config = configOf(SAMPLE, SAMPLE_VALUES);
  assertEquals(config.server.adminKey, null);
  assertEquals(config.server.baseUrl, "http://127.0.0.1:8787");
  assertEquals(config.accounts, [
    {
      id: "demo",
      declaredAt: "switchyard.yaml: accounts[0]",
      balance: readMoney("25"),
      settings: { balance: "prepaid" },
      keys: ["sk-demo-0123456789abcdef"],
      webhookSecret: "hook-secret-0123",
    },
  ]);
  assertEquals(Object.keys(config.providers), ["openai", "azure"]);
  assertEquals(config.providers.azure?.baseUrl, "https://unit.example/openai/v1");
  assertEquals(config.providers.azure?.headers, { "api-key": "key-two" });
  assertEquals(config.models.map(({ id }) => id), ["openai/gpt-image-1.5", "lumen/reel-1"]);
  assertEquals(config.models[0]?.serves[1], { provider: "azure", model: "gpt-image-1.5", weight: 20 });
  assertEquals(config.models[1]?.serves, [{ provider: "openai", model: "reel-1", weight: 1 }]);
  assertEquals(config.egress, { allow: ["127.0.0.1/32"], caFile: null });
});

Deno.test("readConfig() gives the documented defaults for an empty file", () => {
  assertEquals(configOf("# nothing\n"), {
    proxies: { https: null, http: null, exceptions: [] },
    server: {
      host: "127.0.0.1",
      port: 8787,
      trustedProxies: [],
      baseUrl: null,
      docsUrl: null,
      peerUrl: null,
      vendorCallbacks: true,
      adminKey: null,
      adminKeys: [],
      adminListen: null,
      isolates: Deno.build.os === "linux" ? Math.min(navigator.hardwareConcurrency, 8) : 1,
      shutdownGraceMs: 30_000,
      stallLimitMs: 60_000,
    },
    store: "kv:./data/switchyard.db",
    files: "./data/files",
    bucket: null,
    accounts: [],
    providers: {},
    models: [],
    modelPatterns: [],
    builtInIds: [],
    prices: { source: "built_in", isBuiltIn: true, everyMs: 21_600_000, maxChange: 0.5, keepMs: 2_592_000_000 },
    aliases: [],
    limits: {
      accountConcurrency: 2_000,
      accountFilesBytes: 10_000_000_000,
      memoryBytes: null,
      minFreeDiskBytes: 64_000_000,
      filesQuotaBytes: null,
      cachedContents: { count: 1_000, bytes: 1_000_000_000 },
      videoPolling: { requests: 60, perMs: 60_000, burst: 10 },
      reads: { requests: 600, perMs: 60_000, burst: 100 },
      dryRuns: { requests: 60, perMs: 60_000, burst: 60 },
      videoEventStreams: 100,
      vendorPolling: { firstMs: 10_000, minMs: 5_000, maxMs: 30_000, perSecond: 20 },
      textBodyBytes: 20_000_000,
      largeBodyBytes: 2_000_000,
      imageBodyBytes: 50_000_000,
      editBodyBytes: 50_000_000,
      editFileBytes: 15_000_000,
      videoBodyBytes: 50_000_000,
      inputBodyBytes: 4_000_000,
      audioBodyBytes: 30_000_000,
      otherBodyBytes: 64_000,
      resume: {
        isEnabled: true,
        streamBytes: 8_000_000,
        accountBytes: 32_000_000,
        accountStreams: 100,
        keepMs: 600_000,
      },
      idempotency: {
        isEnabled: true,
        replyBytes: 8_000_000,
        accountBytes: 100_000_000,
        accountKeys: 10_000,
        leaseMs: 30_000,
      },
      bodyIdleMs: 15_000,
      videoDeadlineMs: 86_400_000,
      videoDoubtMs: 300_000,
      signedUrlMs: 86_400_000,
    },
    retention: {
      tasksMs: null,
      deliveriesMs: null,
      filesMs: 604_800_000,
      cachedContentsMs: null,
      auditMs: 34_560_000_000,
    },
    billing: { preauthorize: true, unknownCreates: "release", durability: "process" },
    webhooks: { timeoutMs: 10_000 },
    notifications: { url: null, secret: null, balanceLow: [{ text: "3d", days: 3 }] },
    egress: { allow: [], caFile: null },
    logs: { level: "info" },
    requestLog: { isEnabled: true, path: null, retentionMs: 2_592_000_000, maxBytes: 5_000_000_000, capture: null },
    tracing: null,
    catalog: null,
    console: null,
  });
});

Deno.test("readConfig() syncs charges by default with a store in PostgreSQL", () => {
  const store = "store: postgres://switchyard@127.0.0.1/switchyard\n";
  assertEquals(configOf(store).billing.durability, "power");
  assertEquals(configOf(`${store}billing: { durability: process }`).billing.durability, "process");
  assertEquals(configOf("billing: { durability: power }").billing.durability, "power");
});

Deno.test("readConfig() reads tracing with its defaults, and refuses what is no address of a collector", () => {
  const endpoint = "http://collector:4318/v1/traces";
  assertEquals(configOf(`tracing: { endpoint: "${endpoint}" }`).tracing, {
    endpoint,
    headers: {},
    ratio: 1,
    serviceName: "switchyard",
  });
  const full =
    `tracing: { endpoint: "${endpoint}", headers: { authorization: Bearer t }, ratio: 0.1, service_name: gw }`;
  assertEquals(configOf(full).tracing, {
    endpoint,
    headers: { authorization: "Bearer t" },
    ratio: 0.1,
    serviceName: "gw",
  });
  for (
    const fields of [
      "ratio: 0.1",
      "endpoint: collector",
      'endpoint: "ftp://collector/"',
      'endpoint: "http://user:password@collector/"',
      `endpoint: "${endpoint}", ratio: 2`,
      `endpoint: "${endpoint}", headers: { content-type: text/plain }`,
    ]
  ) assertEquals(problemsOf(`tracing: { ${fields} }`).length, 1, fields);
});

Deno.test("readConfig() reads request_log as a switch or a section", () => {
  const off = { isEnabled: false, path: null, retentionMs: 2_592_000_000, maxBytes: 5_000_000_000, capture: null };
  assertEquals(configOf("request_log: false").requestLog, off);
  assertEquals(configOf("request_log: { enabled: false }").requestLog, off);
  assertEquals(configOf("request_log: { path: /srv/requests.db, days: 1.5, max_bytes: 2GB }").requestLog, {
    isEnabled: true,
    path: "/srv/requests.db",
    retentionMs: 129_600_000,
    maxBytes: 2_000_000_000,
    capture: null,
  });
  assertEquals(problemsOf("request_log: { day: 7 }").length, 1);
});

Deno.test("readConfig() reads the example of the documentation", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/configuration.md", import.meta.url));
  const [, sample] = atLeast(/```yaml\n(server:\n {2}base_url[\s\S]*?)```/.exec(page) ?? [], 2);
  const secrets = { OPENAI_API_KEY: "key-one", AZURE_OPENAI_API_KEY: "key-two", ACME_KEY: "sixteen-letters-a" };
  const { providers, models, modelPatterns, aliases } = configOf(sample, secrets);
  assertEquals(Object.keys(providers), ["openai", "azure"]);
  assertEquals(models.map(({ id }) => id), ["openai/gpt-6-sol", "openai/gpt-image-1.5", "example/reel-1"]);
  assertEquals(modelPatterns.map(({ id, refreshMs }) => [id, refreshMs]), [["openai/*", 3_600_000]]);
  assertEquals(aliases.map(({ name, model }) => [name, model]), [
    ["claude-opus-4-8", "openai/gpt-6-sol"],
    ["gpt-*", "openai/*"],
  ]);
});

Deno.test("readConfig() reads the sample's sections from JSON as well", () => {
  const json = `{\n\t"server": { "port": 0 },\n\t"logs": { "level": "debug" }\n}`;
  const config = configOf(json);
  assertEquals([config.server.port, config.logs.level], [0, "debug"]);
});

Deno.test("readConfig() takes numbers, switches and sizes from expanded text", () => {
  const config = configOf(
    "server: { port: '${P}' }\nbilling: { preauthorize: ${B} }\nlimits: { text_body: ${S}, body_idle: 0.5 }",
    { P: "9000", B: "false", S: "64KiB" },
  );
  assertEquals(config.server.port, 9000);
  assertEquals(config.billing.preauthorize, false);
  assertEquals(config.limits.textBodyBytes, 65_536);
  assertEquals(config.limits.bodyIdleMs, 500);
});

/** A provider and a model that are right, to stand beside one mistake. */
const PROVIDERS = "providers: { openai: { kind: openai, api_key: key-one } }\n";
const model = (fields: string) => `${PROVIDERS}models: [{ id: openai/one, serves: [{ provider: openai }], ${fields} }]`;

const MISTAKES: Record<string, [text: string, problem: string]> = {
  "an unknown section": ["sever: {}", 'sever: expected a known field (did you mean "server"?), got "sever"'],
  "an unknown field": [
    "server: { prot: 80 }",
    'server.prot: expected a known field (did you mean "port"?), got "prot"',
  ],
  "an unknown field with nothing near": [
    "webhooks: { colour: red }",
    'webhooks.colour: expected a known field (timeout), got "colour"',
  ],
  "an unknown field of a model": [
    model("pricing: { completon: '1' }"),
    'models[0].pricing.completon: expected a known field (did you mean "completion"?), got "completon"',
  ],
  "too many threads": ["server: { isolates: 100 }", "server.isolates: expected a whole number from 1 to 64, got 100"],
  "threads as another text": [
    "server: { isolates: all }",
    'server.isolates: expected "auto" or a number from 1 to 64, got "all"',
  ],
  "a wrong type": ["server: { port: [80] }", "server.port: expected a whole number from 0 to 65535, got a list of 1"],
  "a section that is text": ["limits: many", 'limits: expected a section, got "many"'],
  "a list that is a section": ["models: {}", "models: expected a list, got a section"],
  "a number out of range": [
    "server: { port: 65536 }",
    "server.port: expected a whole number from 0 to 65535, got 65536",
  ],
  "an admin address without an admin key": [
    "server: { admin_listen: '127.0.0.1:8788' }",
    "server.admin_listen: expected an admin key for the admin API: set server.admin_key, server.admin_keys or " +
    "SWITCHYARD_ADMIN_KEY, got none",
  ],
  "an account whose bodies are not kept": [
    "accounts: [{ id: one, capture: none }, { id: two, capture: all }]",
    'accounts[1].capture: expected none, as no bodies are kept: "request_log.capture" is not set, got "all"',
  ],
  "a key whose bodies are not kept": [
    "request_log: { enabled: false, capture: { secret_key: sixteen-letters-a } }\n" +
    "accounts: [{ id: one, keys: [{ key: sixteen-letters-b, capture: errors }] }]",
    'accounts[0].keys[0].capture: expected none, as no bodies are kept: "request_log.enabled" is false, got text of 6 characters',
  ],
  "a bad CIDR": [
    "egress: { allow: [10.0.0.0/33] }",
    'egress.allow[0]: expected a network in CIDR form, such as "10.0.0.0/8" or "fd00::/8", got "10.0.0.0/33"',
  ],
  "an address without a prefix length": [
    "egress: { allow: ['::1/128', 10.0.0.1] }",
    'egress.allow[1]: expected a network in CIDR form, such as "10.0.0.0/8" or "fd00::/8", got "10.0.0.1"',
  ],
  "a missing name": [
    "providers: { openai: { kind: openai, api_key: ${OPENAI_API_KEY} } }",
    "providers.openai.api_key: expected the environment variable OPENAI_API_KEY to be set, or to be in .env, got nothing",
  ],
  "two equal model ids": [
    `${PROVIDERS}models: [{ id: a/b, serves: [{ provider: openai }] }, { id: a/b, serves: [{ provider: openai }] }]`,
    'models[1].id: expected a name that is not the id or canonical_slug of another model, got "a/b"',
  ],
  "a canonical slug that is another's id": [
    `${PROVIDERS}models: [{ id: a/b, serves: [{ provider: openai }] }, ` +
    "{ id: a/c, canonical_slug: a/b, serves: [{ provider: openai }] }]",
    'models[1].canonical_slug: expected a name that is not the id or canonical_slug of another model, got "a/b"',
  ],
  "two equal account ids": [
    "accounts: [{ id: one, balance: '-1' }, { id: one }]",
    'accounts[1].id: expected a unique id, got "one"',
  ],
  "one key of two accounts": [
    "accounts: [{ id: one, keys: [sixteen-letters-a] }, { id: two, keys: [sixteen-letters-a] }]",
    "accounts[1].keys[0]: expected a unique key, got text of 17 characters",
  ],
  "a negative weight": [
    `${PROVIDERS}models: [{ id: a/b, serves: [{ provider: openai, weight: -1 }] }]`,
    "models[0].serves[0].weight: expected a number from 0 to 1000000, got -1",
  ],
  "weights that are all zero": [
    `${PROVIDERS}models: [{ id: a/b, serves: [{ provider: openai, weight: 0 }] }]`,
    "models[0].serves: expected at least one weight above 0, got a list of 1",
  ],
  "one provider twice": [
    `${PROVIDERS}models: [{ id: a/b, serves: [{ provider: openai }, { provider: openai, model: c }] }]`,
    'models[0].serves[1].provider: expected each provider once, so that a pin names one, got "openai"',
  ],
  "an unknown provider": [
    `${PROVIDERS}models: [{ id: a/b, serves: [{ provider: opnai }] }]`,
    'models[0].serves[0].provider: expected the name of a provider (did you mean "openai"?), got "opnai"',
  ],
  "a price that is no number": [
    model('pricing: { prompt: "abc" }'),
    'models[0].pricing.prompt: expected a decimal number of USD in quotes, such as "0.000005", or the price of a million as prompt_per_million: "5", got "abc"',
  ],
  "a price that is a float": [
    model("pricing: { prompt: 0.5 }"),
    'models[0].pricing.prompt: expected a decimal number of USD in quotes, such as "0.000005", or the price of a million as prompt_per_million: "5", got 0.5',
  ],
  "a price below zero": [
    model('pricing: { prompt: "-1" }'),
    'models[0].pricing.prompt: expected a decimal number of USD in quotes, such as "0.000005", or the price of a million as prompt_per_million: "5", got "-1"',
  ],
  "an id without a provider": [
    `${PROVIDERS}models: [{ id: one, serves: [{ provider: openai }] }]`,
    'models[0].id: expected "<provider>/<model_name>" of letters, digits and . _ -, got "one"',
  ],
  "an id with a path in it": [
    `${PROVIDERS}models: [{ id: ../one, serves: [{ provider: openai }] }]`,
    'models[0].id: expected "<provider>/<model_name>" of letters, digits and . _ -, got "../one"',
  ],
  "an unknown kind": [
    "providers: { one: { kind: something, api_key: x } }",
    `providers.one.kind: expected one of ${[...PROVIDER_KINDS, ...PRESET_NAMES].join(", ")}, got "something"`,
  ],
  "a misspelled kind": [
    "providers: { one: { kind: opnai, api_key: x } }",
    'providers.one.kind: expected a known value (did you mean "openai"?), got "opnai"',
  ],
  "a store of another kind": [
    "store: sqlite:x",
    'store: expected "kv:" and a path, such as "kv:./data/switchyard.db", "kv::memory:", or postgres://…, got "sqlite:x"',
  ],
  "a database without a name": [
    "store: postgres://user:sesame@db.example.com",
    "store: expected postgres://USER:PASSWORD@HOST/DATABASE, such as with ?sslmode=verify-full, got text of 37 characters",
  ],
  "a database whose password has an unencoded #": [
    "store: 'postgres://user:ses#me@db.example.com/switchyard'",
    "store: expected postgres://USER:PASSWORD@HOST/DATABASE, such as with ?sslmode=verify-full; in a name or password, " +
    'write "#" as %23, "?" as %3F, "/" as %2F, "@" as %40 and "%" as %25, got text of 48 characters',
  ],
  "a field called __proto__": [
    "webhooks: { __proto__: { timeout: 1 } }",
    'webhooks.__proto__: expected a known field (timeout), got "__proto__"',
  ],
};

for (const [mistake, [text, problem]] of Object.entries(MISTAKES)) {
  Deno.test(`readConfig() refuses ${mistake}, naming file, path and expectation`, () => {
    const problems = problemsOf(text);
    assertEquals(problems.filter((line) => line === `switchyard.yaml: ${problem}`).length, 1, problems.join("\n"));
  });
}

Deno.test("readConfig() reports all problems at once, one for each path", () => {
  const problems = problemsOf(`
server: { port: none, hots: x }
providers: { one: { kind: openai, api_key: "\${ABSENT}" } }
models:
  - { id: noslash, serves: [{ provider: onne }] }
egress: { allow: [1.2.3.4] }
logs: { level: loud }
`);
  const places = problems.map((line) => line.split(": ")[1]);
  assertEquals([...places].sort(), [
    "egress.allow[0]",
    "logs.level",
    "models[0].id",
    "models[0].serves[0].provider",
    "providers.one.api_key",
    "server.hots",
    "server.port",
  ]);
  assertStringIncludes(problems.join("\n"), "expected one of debug, info, warn, error");
});

Deno.test("readConfig() offers the built-in models of the file's providers when it lists none", () => {
  const config = configOf("providers: { xai: { kind: openai, api_key: k, base_url: https://api.x.ai/v1 } }");
  assertEquals(new Set(config.models.map(({ ownedBy }) => ownedBy)), new Set(["xai"]));
  assertEquals(configOf("providers: { xai: { kind: openai, api_key: k } }\nmodels: []").models, []);
});

Deno.test("config check names each problem in the limits of accounts and keys", () => {
  const problems = problemsOf(`
accounts:
  - id: demo
    concurrency: 0
    keys:
      - key: sk-sy-demo-key-of-the-configuration
        rmp: 60
        budget: {amount: "5", per: year}
      - 7
      - key: short
`);
  assertEquals(problems.map((line) => line.replace("switchyard.yaml: ", "")), [
    "accounts[0].keys[0].budget.per: expected one of day, week, month, total, got text of 4 characters",
    'accounts[0].keys[0].rmp: expected a known field (did you mean "rpm"?), got "rmp"',
    "accounts[0].keys[1]: expected a key, or a section with it, got a number",
    "accounts[0].keys[2].key: expected a key of 16 to 256 visible ASCII characters, with a valid checksum if it was generated, got text of 5 characters",
    "accounts[0].concurrency: expected a whole number of requests at one time from 1 to 1000000, got 0",
  ]);
});
