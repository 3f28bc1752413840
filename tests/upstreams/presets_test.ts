import { assert, assertEquals, assertThrows } from "@std/assert";
import * as z from "zod";
import { PROVIDER_KINDS } from "../../src/vendors/upstreams/kinds.ts";
import { PRESET_NAMES, presetOf } from "../../src/vendors/upstreams/vendors.ts";
import { readProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";
import { configOf, problemsOf } from "../config/support.ts";

Deno.test("a preset gives the kind, the address and the quirks of its vendor", () => {
  for (const name of PRESET_NAMES) {
    const preset = presetOf(name);
    assert(preset !== null);
    if (preset.baseUrl === null) continue;
    const config = readProviderConfig({ kind: name, api_key: "k" });
    const written = readProviderConfig({ kind: preset.kind, api_key: "k", base_url: preset.baseUrl });
    assertEquals(config, { ...written, speaks: preset.speaks ?? written.speaks });
  }
  assertEquals(readProviderConfig({ kind: "perplexity", api_key: "k" }).speaks, "responses");
});

Deno.test("no preset has the name of a kind", () => {
  assertEquals(PRESET_NAMES.filter((name) => (PROVIDER_KINDS as readonly string[]).includes(name)), []);
});

Deno.test("the fields of a provider override its preset", () => {
  const config = readProviderConfig({
    kind: "ollama",
    base_url: "http://gpu.internal:11434/v1",
    speaks: "both",
    quirks: ["no_user_field"],
  });
  assertEquals([config.baseUrl, config.speaks], ["http://gpu.internal:11434/v1", "both"]);
  assertEquals([...config.quirks], ["no_user_field"]);
});

Deno.test("a preset needs a key unless its vendor is a server of the operator", () => {
  assertEquals(readProviderConfig({ kind: "lmstudio" }).apiKey, null);
  const error = assertThrows(() => readProviderConfig({ kind: "groq" }), z.ZodError);
  assertEquals(error.issues.map(({ path, message }) => [path.join("."), message]), [
    [
      "api_key",
      "the vendor's key, which is required without base_url, here or in the environment variable GROQ_API_KEY",
    ],
  ]);
});

Deno.test("the key of a preset comes from its vendor's environment variable", () => {
  const keyOf = (text: string, env: Record<string, string>) => configOf(text, env).providers.fast?.apiKey;
  const env = { GROQ_API_KEY: "gsk-environment" };
  assertEquals(keyOf("providers: { fast: { kind: groq } }", env), "gsk-environment");
  assertEquals(keyOf("providers: { fast: { kind: groq, api_key: gsk-file } }", env), "gsk-file");
  // A key is not sent to an address that is not the vendor's.
  assertEquals(keyOf("providers: { fast: { kind: groq, base_url: 'http://relay.example/v1' } }", env), null);
  assertEquals(keyOf("providers: { fast: { kind: openai, base_url: 'http://relay.example/v1' } }", env), null);
  assertEquals(problemsOf("providers: { fast: { kind: groq } }", { GROQ_API_KEY: "two words" }), [
    "environment: GROQ_API_KEY: expected a secret of 1 to 4096 visible ASCII characters, got text of 9 characters",
  ]);
});

Deno.test("azure takes the address of a resource, and sends the key in its own header field", () => {
  const base_url = "https://acme.openai.azure.com";
  for (const address of [base_url, `${base_url}/`, `${base_url}/openai/v1`]) {
    const { baseUrl, apiKey, headers } = readProviderConfig({ kind: "azure", base_url: address, api_key: "k" });
    assertEquals([baseUrl, apiKey, headers], [`${base_url}/openai/v1`, null, { "api-key": "k" }]);
  }
  const { credentials } = readProviderConfig({
    kind: "azure",
    base_url,
    credentials: [{ name: "a", api_key: "k", headers: { "X-Team": "one" } }],
  });
  assertEquals(credentials?.map(({ apiKey, headers }) => [apiKey, headers]), [
    [null, { "api-key": "k", "x-team": "one" }],
  ]);
  const fromVariable = configOf(`providers: { azure: { kind: azure, base_url: "${base_url}" } }`, {
    AZURE_OPENAI_API_KEY: "key-in-variable",
  });
  assertEquals(fromVariable.providers.azure?.headers, { "api-key": "key-in-variable" });
  assertEquals(problemsOf("providers: { azure: { kind: azure } }"), [
    "switchyard.yaml: providers.azure.base_url: expected the address of the account at the vendor, got nothing",
    "switchyard.yaml: providers.azure.api_key: expected the vendor's key, here or in the environment variable " +
    "AZURE_OPENAI_API_KEY, got nothing",
  ]);
});

Deno.test("a version selects the dated API of azure, below the address of the resource", () => {
  const base_url = "https://acme.openai.azure.com";
  const api_version = "2024-10-21";
  for (const address of [base_url, `${base_url}/openai`, `${base_url}/openai/v1`]) {
    const config = readProviderConfig({ kind: "azure", base_url: address, api_key: "k", api_version });
    assertEquals([config.baseUrl, config.apiVersion], [`${base_url}/openai`, api_version]);
  }
  const problems = (fields: Record<string, unknown>) =>
    assertThrows(() => readProviderConfig({ api_key: "k", ...fields }), z.ZodError).issues
      .map(({ path, message }) => `${path.join(".")}: ${message}`);
  assertEquals(problems({ kind: "openai", api_version }), [
    'api_version: none, as only kind "azure" has this field',
  ]);
  assertEquals(problems({ kind: "azure", base_url, api_version: "v1" }), [
    'api_version: a version such as "2024-10-21" or "2025-04-01-preview"',
  ]);
  assertEquals(problems({ kind: "azure", base_url: `${base_url}/openai/deployments/mini` }), [
    "base_url: only the address of the resource, as the name of a deployment belongs in models[].serves",
  ]);
});

Deno.test("a preset with the address of a vendor has that vendor's built-in models", () => {
  const { models } = configOf("providers: { deepseek: { kind: deepseek, api_key: k } }", {});
  assert(models.some(({ id }) => id.startsWith("deepseek/")));
});
