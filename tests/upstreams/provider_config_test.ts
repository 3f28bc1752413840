import { assert, assertEquals, assertThrows } from "@std/assert";
import * as z from "zod";
import { NO_QUIRKS } from "../../src/conversation/contract/quirks.ts";
import { isProviderName } from "../../src/platform/names/provider_name.ts";
import { readProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";
import { vendorBaseUrl } from "../../src/vendors/upstreams/configured_vendors.ts";
import { PROVIDER_KINDS } from "../../src/vendors/upstreams/kinds.ts";
import { COMPATIBLE_MESSAGES_QUIRKS, COMPATIBLE_QUIRKS } from "../../src/vendors/upstreams/settings/default_quirks.ts";

function pathsOf(provider: unknown): string[] {
  const error = assertThrows(() => readProviderConfig(provider), z.ZodError) as z.ZodError;
  return error.issues.map(({ path }) => path.join("."));
}

Deno.test("readProviderConfig() adds the vendor's base URL and the default timeouts", () => {
  assertEquals(readProviderConfig({ kind: "openai", api_key: "k" }), {
    kind: "openai",
    baseUrl: "https://api.openai.com/v1",
    apiKey: "k",
    speaks: "both",
    headers: {},
    timeouts: { connectMs: 10_000, firstByteMs: 600_000, idleMs: 600_000 },
    allows: { references: [], tools: [] },
    quirks: NO_QUIRKS,
    hasBatches: true,
  });
  for (const kind of PROVIDER_KINDS) {
    const own = { vertex: { project: "p" }, bedrock: { region: "us-east-1" } };
    if (vendorBaseUrl(kind)) {
      assertEquals(readProviderConfig({ kind, api_key: "k", ...own[kind as "vertex"] }).baseUrl, vendorBaseUrl(kind));
    } else assertEquals(pathsOf({ kind, api_key: "k" }), ["base_url"]);
  }
});

Deno.test("readProviderConfig() accepts a secret key for kinds that sign", () => {
  const { apiKey, secretKey } = readProviderConfig({ kind: "kling", api_key: "access", secret_key: "secret" });
  assertEquals([apiKey, secretKey], ["access", "secret"]);
  assertEquals(readProviderConfig({ kind: "kling", api_key: "k", secret_key: "" }).secretKey, undefined);
  assertEquals(pathsOf({ kind: "kling", base_url: "https://a.example", secret_key: "s" }), ["api_key"]);
  assertEquals(pathsOf({ kind: "openai", api_key: "k", secret_key: "s" }), ["secret_key"]);
});

Deno.test("readProviderConfig() accepts an admin key for vendors with reports, by kind, preset or address", () => {
  const formatOf = (fields: Record<string, unknown>) =>
    readProviderConfig({ api_key: "k", report_key: "admin", ...fields }).reports?.format;
  assertEquals(formatOf({ kind: "openai" }), "openai");
  assertEquals(formatOf({ kind: "anthropic" }), "anthropic");
  assertEquals(formatOf({ kind: "openrouter" }), "openrouter");
  assertEquals(formatOf({ kind: "openai", base_url: "https://openrouter.ai/api/v1" }), "openrouter");
  assertEquals(formatOf({ kind: "openai", report_key: "" }), undefined);
  for (const kind of ["groq", "google", "xai"]) {
    assertEquals(pathsOf({ kind, api_key: "k", report_key: "admin" }), ["report_key"]);
  }
});

Deno.test("readProviderConfig() defaults to chat for compatible vendors of kind openai", () => {
  const base_url = "https://api.x.ai/v1/";
  assertEquals(readProviderConfig({ kind: "openai", base_url }).speaks, "chat");
  assertEquals(readProviderConfig({ kind: "openai", base_url, speaks: "responses" }).speaks, "responses");
  assertEquals(readProviderConfig({ kind: "openai", base_url }).baseUrl, "https://api.x.ai/v1");
  assertEquals(readProviderConfig({ kind: "xai", api_key: "k" }).speaks, "chat");
  assertEquals(readProviderConfig({ kind: "xai", api_key: "k", speaks: "both" }).speaks, "both");
});

Deno.test("readProviderConfig() accepts MiniMax's base URL with and without its text version", () => {
  for (const base_url of ["https://api.minimaxi.com", "https://api.minimaxi.com/v1/"]) {
    assertEquals(readProviderConfig({ kind: "minimax", base_url }).baseUrl, "https://api.minimaxi.com");
  }
});

Deno.test("readProviderConfig() requires a key only without a base URL", () => {
  assertEquals(pathsOf({ kind: "google" }), ["api_key"]);
  assertEquals(pathsOf({ kind: "google", api_key: "" }), ["api_key"]);
  assertEquals(readProviderConfig({ kind: "google", base_url: "http://10.0.0.1" }).apiKey, null);
  assertEquals(readProviderConfig({ kind: "openai", base_url: "http://10.0.0.1", api_key: "" }).apiKey, null);
});

Deno.test("readProviderConfig() rejects header names and values that cannot be sent", () => {
  const at = (fields: Record<string, unknown>) => pathsOf({ kind: "openai", api_key: "k", ...fields });
  assertEquals(at({ api_key: "a b" }), ["api_key"]);
  assertEquals(at({ api_key: "a\r\nb: c" }), ["api_key"]);
  assertEquals(at({ headers: { "x-a": "a\nb" } }), ["headers.x-a"]);
  for (const name of ["Host", "content-length", "Transfer-Encoding", "a b", ""]) {
    assertEquals(at({ headers: { [name]: "x" } }), [`headers.${name}`]);
  }
  for (
    const base_url of [
      "ftp://a",
      "a.example",
      "https://u:p@a.example",
      "https://a.example?x=1",
      "https://a.example#x",
      "http://",
      7,
    ]
  ) {
    assertEquals(at({ base_url }), ["base_url"], String(base_url));
  }
  assertEquals(at({ timeouts: { connect: 0, idle: "soon" } }), ["timeouts.connect", "timeouts.idle"]);
  assertEquals(pathsOf({ kind: "google", api_key: "k", speaks: "chat" }), ["speaks"]);
  assertEquals(pathsOf({ kind: "smtp" }), ["kind"]);
});

Deno.test("isProviderName() accepts names that are valid in a header and in a path", () => {
  for (const name of ["openai", "sandbox-any", "azure_eu.2", "4o"]) assertEquals(isProviderName(name), true, name);
  for (const name of ["", "OpenAI", "a b", "-a", "a/b", "__proto__", "ä", "a".repeat(65)]) {
    assertEquals(isProviderName(name), false, name);
  }
});

Deno.test("readProviderConfig() derives quirks from the base URL unless the operator sets them", () => {
  const quirksAt = (base_url: string, fields = {}) => [
    ...readProviderConfig({ kind: "openai", base_url, ...fields }).quirks,
  ];
  assertEquals(quirksAt("https://one.openai.azure.com/openai/v1"), ["no_file_parts"]);
  assertEquals(quirksAt("https://openai.azure.com.evil.example/v1"), [...COMPATIBLE_QUIRKS]);
  assertEquals(quirksAt("http://10.0.0.1:8000/v1"), [...COMPATIBLE_QUIRKS]);
  assert(quirksAt("https://api.mistral.ai/v1").includes("no_stream_options"));
  assert(!quirksAt("https://openrouter.ai/api/v1").includes("three_efforts"));
  assert(quirksAt("https://api.deepseek.com/v1").includes("thinking_switch"));
  assert(quirksAt("https://dashscope-intl.aliyuncs.com/compatible-mode/v1").includes("no_file_parts"));
  assert(quirksAt("https://ark.ap-southeast.bytepluses.com/api/v3").includes("thinking_switch"));
  assert(!quirksAt("https://generativelanguage.googleapis.com/v1beta/openai").includes("no_file_parts"));
  assert(quirksAt("https://api.voyageai.com/v1").includes("top_k_ranks"));
  assert(quirksAt("https://api.voyageai.com/v1").includes("output_dimension"));
  assertEquals(quirksAt("https://api.mistral.ai/v1", { quirks: ["max_tokens_field"] }), ["max_tokens_field"]);
  assertEquals(quirksAt("https://api.mistral.ai/v1", { quirks: [] }), []);
  assertEquals([...readProviderConfig({ kind: "anthropic", api_key: "k" }).quirks], []);
  const { quirks } = readProviderConfig({ kind: "anthropic", base_url: "https://api.deepseek.com/anthropic" });
  assertEquals([...quirks], [...COMPATIBLE_MESSAGES_QUIRKS]);
});

Deno.test("readProviderConfig() rejects an unknown quirk", () => {
  assertEquals(pathsOf({ kind: "openai", api_key: "k", quirks: ["max_token_field"] }), ["quirks.0"]);
});

Deno.test("readProviderConfig() reads limits, and takes no waiting time without them", () => {
  const { limits } = readProviderConfig({ kind: "openai", api_key: "k", rpm: 60, concurrency: "8", max_wait: 2 });
  assertEquals(limits, { rpm: 60, concurrency: 8, maxWaitMs: 2_000 });
  assertEquals(readProviderConfig({ kind: "openai", api_key: "k", tpm: 9 }).limits, { tpm: 9, maxWaitMs: 5_000 });
  assertEquals(readProviderConfig({ kind: "openai", api_key: "k", max_wait: 2 }).limits, undefined);
  assertEquals(pathsOf({ kind: "openai", api_key: "k", rpm: 0, tpm: 1.5, concurrency: "many", max_wait: -1 }), [
    "rpm",
    "tpm",
    "concurrency",
    "max_wait",
  ]);
});

Deno.test("readProviderConfig() reads several credentials, each with its key or headers and its limits", () => {
  const config = readProviderConfig({
    kind: "kling",
    max_wait: 1,
    credentials: [
      { name: "a", api_key: "k1", secret_key: "s1", weight: 3, rpm: 60 },
      { name: "b", headers: { Authorization: "Bearer t" } },
    ],
  });
  assertEquals(config.apiKey, null);
  assertEquals(config.credentials, [
    { name: "a", apiKey: "k1", secretKey: "s1", headers: {}, weight: 3, limits: { rpm: 60, maxWaitMs: 1_000 } },
    { name: "b", apiKey: null, headers: { authorization: "Bearer t" }, weight: 1 },
  ]);
});

Deno.test("readProviderConfig() names the problems of credentials", () => {
  const bad = (credentials: unknown, more = {}) => pathsOf({ kind: "openai", credentials, ...more });
  const good = { name: "a", api_key: "k" };
  assertEquals(bad([good], { api_key: "k" }), ["api_key"]);
  assertEquals(bad([good, good]), ["credentials.1.name"]);
  assertEquals(bad([{ ...good, secret_key: "s" }]), ["credentials.0.secret_key"]);
  assertEquals(bad([{ ...good, weight: 0 }]), ["credentials"]);
  assertEquals(bad([{ name: "a" }]), ["credentials.0.api_key"]);
  assertEquals(bad([{ ...good, name: "a#b" }]), ["credentials.0.name"]);
  assertEquals(bad([]), ["credentials"]);
});
