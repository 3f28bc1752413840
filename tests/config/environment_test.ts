import { assertEquals } from "@std/assert";
import { PRESET_NAMES, VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { itemAt, valueAt } from "../support/items.ts";
import { configOf, problemsOf } from "./support.ts";

Deno.test("HOST, PORT and SWITCHYARD_ADMIN_KEY override the file", () => {
  const { server } = configOf("server: { host: a.example, port: 1, base_url: http://b.example }", {
    HOST: "0.0.0.0",
    PORT: "9090",
    SWITCHYARD_ADMIN_KEY: "0123456789abcdef",
  });
  assertEquals([server.host, server.port, server.adminKey], ["0.0.0.0", 9090, "0123456789abcdef"]);
  assertEquals(server.baseUrl, "http://b.example");
});

Deno.test("the other overrides set their fields", () => {
  const config = configOf("", {
    SWITCHYARD_BASE_URL: "https://gate.example/",
    SWITCHYARD_STORE: "kv::memory:",
    SWITCHYARD_FILES: "/srv/files",
    SWITCHYARD_LOG_LEVEL: "warn",
  });
  assertEquals(config.server.baseUrl, "https://gate.example");
  assertEquals([config.store, config.files, config.logs.level], ["kv::memory:", "/srv/files", "warn"]);
});

Deno.test("an override that is empty leaves the file's value", () => {
  assertEquals(configOf("server: { port: 1 }", { PORT: "" }).server.port, 1);
});

Deno.test("a problem in the environment is reported with its variable", () => {
  assertEquals(problemsOf("server: { port: 1 }", { PORT: "http" }), [
    'environment: PORT: expected a whole number from 0 to 65535, got "http"',
  ]);
  assertEquals(problemsOf("", { OPENAI_API_KEY: "two words" }), [
    "environment: OPENAI_API_KEY: expected a secret of 1 to 4096 visible ASCII characters, got text of 9 characters",
  ]);
});

Deno.test("an override does not hide an invalid section", () => {
  assertEquals(problemsOf("server: [1]", { PORT: "80" }), [
    "switchyard.yaml: server: expected a section, got a list of 1",
  ]);
});

for (
  const [provider, { kind, keyNames, addressNames = [], baseUrl, hasBuiltInModels = true }] of Object.entries(VENDORS)
) {
  if (keyNames.length === 0 || baseUrl === null) continue;
  Deno.test(`${keyNames.join(" or ")} enables ${provider}, with the models that are built in`, () => {
    for (const keyName of keyNames) {
      const config = configOf("", { [keyName]: "vendor-key" });
      assertEquals(Object.keys(config.providers), [provider]);
      assertEquals(config.providers[provider]?.apiKey, "vendor-key");
      assertEquals(valueAt(config.providers, provider).kind, kind);
      if (baseUrl) assertEquals(valueAt(config.providers, provider).baseUrl, baseUrl);
      assertEquals(config.models.length > 0, hasBuiltInModels);
      assertEquals(
        config.models.every(({ serves }) => serves.length === 1 && itemAt(serves, 0).provider === provider),
        true,
      );
    }
    for (const addressName of addressNames) {
      const config = configOf("", { [itemAt(keyNames, 0)]: "vendor-key", [addressName]: "http://10.0.0.1:99/own/" });
      assertEquals(config.providers[provider]?.baseUrl, "http://10.0.0.1:99/own");
    }
  });
}

Deno.test("KLING_ACCESS_KEY and KLING_SECRET_KEY enable kling together, and KLING_API_KEY comes first", () => {
  const pair = { KLING_ACCESS_KEY: "access-key", KLING_SECRET_KEY: "secret-key" };
  const kling = valueAt(configOf("", pair).providers, "kling");
  assertEquals([kling.apiKey, kling.secretKey], ["access-key", "secret-key"]);
  const plain = valueAt(configOf("", { ...pair, KLING_API_KEY: "plain-key" }).providers, "kling");
  assertEquals([plain.apiKey, plain.secretKey], ["plain-key", undefined]);
});

Deno.test("the admin keys of vendors are read from the environment with their keys, and enable nothing alone", () => {
  for (const [provider, { keyNames, reportKeyName }] of Object.entries(VENDORS)) {
    if (reportKeyName === undefined) continue;
    const { providers } = configOf("", { [itemAt(keyNames, 0)]: "vendor-key", [reportKeyName]: "admin-key" });
    assertEquals(providers[provider]?.reports, { format: provider as "openai", key: "admin-key" });
    assertEquals(configOf("providers: {}", { [reportKeyName]: "admin-key" }).providers, {});
  }
});

Deno.test("AZURE_OPENAI_API_KEY enables azure together with the address of a resource", () => {
  const key = { AZURE_OPENAI_API_KEY: "vendor-key" };
  assertEquals(configOf("", key).providers, {});
  const config = configOf("", { ...key, AZURE_OPENAI_ENDPOINT: "https://acme.openai.azure.com/" });
  const { kind, baseUrl, headers } = valueAt(config.providers, "azure");
  assertEquals([kind, baseUrl, headers], ["openai", "https://acme.openai.azure.com/openai/v1", {
    "api-key": "vendor-key",
  }]);
  assertEquals(config.models, []);
});

Deno.test("a missing half of a key pair is reported by name", () => {
  const [missing] = problemsOf("", { KLING_ACCESS_KEY: "access-key" });
  assertEquals(missing, "environment: KLING_SECRET_KEY: expected the other key of the pair, got nothing");
  const [first] = problemsOf("", { KLING_SECRET_KEY: "secret-key" });
  assertEquals(first, "environment: KLING_ACCESS_KEY: expected the other key of the pair, got nothing");
});

Deno.test("vendors of the environment are ignored when the file has providers", () => {
  const config = configOf("providers: { one: { kind: google, api_key: k } }", { OPENAI_API_KEY: "vendor-key" });
  assertEquals(Object.keys(config.providers), ["one"]);
});

Deno.test("every vendor with a variable for its key and an address is enabled without a file", () => {
  const without = PRESET_NAMES.filter((name) => {
    const { keyNames: [keyName], baseUrl } = VENDORS[name];
    if (keyName === undefined || baseUrl === null) return false;
    return configOf("", { [keyName]: "vendor-key" }).providers[name]?.baseUrl !== baseUrl;
  });
  assertEquals(without, []);
  assertEquals(configOf("", { PERPLEXITY_API_KEY: "vendor-key" }).providers.perplexity?.speaks, "responses");
});
