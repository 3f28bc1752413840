import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";
import { readProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";
import { openProviders, type Providers } from "../../src/vendors/upstreams/opening/providers.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { always, answer, startScriptedUpstream } from "../support/scripted_upstream.ts";

function opened(configs: Readonly<Record<string, Record<string, unknown>>>): Promise<Providers> {
  const read = Object.entries(configs).map(([name, config]): [string, ProviderConfig] => [
    name,
    readProviderConfig(config),
  ]);
  return openProviders(Object.fromEntries(read), { clock: new ManualClock(), caCerts: [] });
}

async function headersSentBy(config: Record<string, unknown>): Promise<Headers> {
  const vendor = startScriptedUpstream(always(answer(200, "{}")));
  const providers = await opened({ one: { base_url: vendor.baseUrl, ...config } });
  try {
    await (await providers.byName.get("one")!.outbound.send(aCall)).readAll(10);
    return itemAt(vendor.seen, 0).headers;
  } finally {
    providers.close();
    await vendor.stop();
  }
}

const aCall = {
  method: "POST",
  path: "/x",
  headers: {},
  body: new Uint8Array(0),
  firstByteMs: 1_000,
  callerSignal: null,
  readError: () => ({ message: "key sk-secret-of-ours", code: null, field: null, retryAfterSeconds: null }),
} as const;

for (
  const [kind, name, value] of [
    ["openai", "authorization", "Bearer sk-secret-of-ours"],
    ["anthropic", "x-api-key", "sk-secret-of-ours"],
    ["google", "x-goog-api-key", "sk-secret-of-ours"],
  ] as const
) {
  Deno.test(`openProviders() sends a key in the form of kind ${kind}`, async () => {
    const headers = await headersSentBy({ kind, api_key: "sk-secret-of-ours" });
    assertEquals(headers.get(name), value);
  });
}

Deno.test("openProviders() sends no key if none is configured, and the operator's headers take precedence", async () => {
  assertEquals((await headersSentBy({ kind: "openai" })).get("authorization"), null);
  const headers = await headersSentBy({ kind: "openai", api_key: "k", headers: { Authorization: "Basic abc" } });
  assertEquals(headers.get("authorization"), "Basic abc");
});

Deno.test("openProviders() redacts the key and the operator's headers from a vendor's message", async () => {
  const vendor = startScriptedUpstream(always(answer(400, "{}")));
  const config = {
    kind: "openai",
    base_url: vendor.baseUrl,
    api_key: "sk-secret-of-ours",
    headers: { a: "second-secret" },
  };
  const providers = await opened({ one: config });
  const { outbound, redact } = providers.byName.get("one")!;
  const failure = await assertRejects(() => outbound.send(aCall), UpstreamFailure);
  assertEquals(failure.message, "key [redacted]");
  assertEquals(redact("a second-secret"), "a [redacted]");
  providers.close();
  await vendor.stop();
});

Deno.test("openProviders() returns a provider's text endpoints, preferred first", async () => {
  const base_url = "https://a.example/v1";
  const { byName } = await opened({
    author: { kind: "openai", api_key: "k" },
    chat: { kind: "openai", base_url },
    responses: { kind: "openai", base_url, speaks: "responses" },
    anthropic: { kind: "anthropic", api_key: "k" },
    google: { kind: "google", api_key: "k" },
  });
  const spoken = [...byName].map(([name, { text }]) => [name, ...text.map(({ format }) => format.name)]);
  assertEquals(spoken, [
    ["author", "responses", "chat"],
    ["chat", "chat"],
    ["responses", "responses"],
    ["anthropic", "messages"],
    ["google", "content"],
  ]);
});

Deno.test("openProviders() limits the wait for a stream's first byte to the idle timeout", async () => {
  const { byName } = await opened({ one: { kind: "openai", api_key: "k", timeouts: { first_byte: 600, idle: 30 } } });
  const { streamFirstByteMs, wholeFirstByteMs } = byName.get("one")!;
  assertEquals([streamFirstByteMs, wholeFirstByteMs], [30_000, 600_000]);
});

Deno.test("openProviders() opens no connection before the first request", async () => {
  const providers = await opened({ one: { kind: "openai", base_url: "http://127.0.0.1:1/v1" } });
  assert(providers.byName.has("one"));
  providers.close();
});

Deno.test("openProviders() shares a provider whose settings are equal, and no other", async () => {
  const parts = { clock: new ManualClock(), caCerts: [] };
  const settings = (key: string) =>
    readProviderConfig({ kind: "openai", base_url: "http://127.0.0.1:9", api_key: key });
  const before = await openProviders({ kept: settings("a"), changed: settings("a"), removed: settings("a") }, parts);
  const after = await openProviders(
    { kept: settings("a"), changed: settings("b"), added: settings("c") },
    parts,
    before,
  );
  assert(after.byName.get("kept") === before.byName.get("kept"));
  assert(after.byName.get("changed") !== before.byName.get("changed"));
  assertEquals([...after.byName.keys()], ["kept", "changed", "added"]);
});

Deno.test("a closed provider finishes running calls and serves later ones; shared providers stay open", async () => {
  const vendor = startScriptedUpstream(always(answer(200, "{}")));
  const parts = { clock: new ManualClock(), caCerts: [] };
  const config = readProviderConfig({ kind: "openai", base_url: vendor.baseUrl });
  const before = await openProviders({ kept: config, removed: config }, parts);
  const after = await openProviders({ kept: config }, parts, before);
  try {
    const running = await before.byName.get("removed")!.outbound.send(aCall);
    before.close(after);
    assertEquals((await running.readAll(10)).length, 2);
    assertEquals((await (await before.byName.get("removed")!.outbound.send(aCall)).readAll(10)).length, 2);
    assertEquals((await (await after.byName.get("kept")!.outbound.send(aCall)).readAll(10)).length, 2);
  } finally {
    after.close();
    await vendor.stop();
  }
});

Deno.test("openProviders() observes the models that answer, except at Azure, where names are those of deployments", async () => {
  const providers = await opened({
    plain: { kind: "openai", api_key: "k" },
    azure: { kind: "azure", base_url: "https://mine.openai.azure.com", api_key: "k" },
    old: { kind: "azure", base_url: "https://mine.openai.azure.com", api_version: "2024-10-21", api_key: "k" },
  });
  providers.close();
  const observed = [...providers.byName].map(([name, { answering }]) => [name, answering !== undefined]);
  assertEquals(observed, [["plain", true], ["azure", false], ["old", false]]);
});
