import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { eventually } from "../support/account_money.ts";
import { PRICING, textModel } from "../support/gateway.ts";
import type { LiveTestGateway } from "../support/live_gateway.ts";
import { contentOf, provider, RELOAD, withGateway } from "./changed_gateway.ts";

/** Starts a streamed call whose first events have come. Returns a function that reads the whole stream. */
async function openStream({ address, key }: LiveTestGateway): Promise<() => Promise<string>> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/one", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";
  return async () => {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
    return text;
  };
}

Deno.test("POST /admin/v1/config/reload puts providers, models, prices and aliases in force, and answers with the difference", async () => {
  await withGateway(async ({ gateway, two }) => {
    assertEquals(contentOf(await gateway.chat("acme/one")), "one");
    gateway.write({
      providers: { second: provider(two) },
      models: [{ ...textModel("acme/one", ["second"]), pricing: { ...PRICING, prompt: "0.000009" } }],
      aliases: { quick: "acme/one" },
      logs: { level: "warn" },
    });
    const { status, body } = await gateway.admin("POST", RELOAD);
    assertEquals(status, 200);
    assertEquals(body.added, { providers: ["second"], aliases: ["quick"] });
    assertEquals(body.removed, { providers: ["first"] });
    assertEquals(body.changed, {
      models: {
        "acme/one": {
          "pricing.prompt": { before: "0.000001", after: "0.000009" },
          "serves.0.provider": { before: "first", after: "second" },
        },
      },
      logs: { level: { value: { before: null, after: "warn" } } },
    });
    assertEquals(body.restart, []);
    assertEquals(contentOf(await gateway.chat("quick")), "two");
    assertEquals(gateway.log.level, "warn");
  });
});

Deno.test("a file with mistakes changes nothing, and every mistake is in the answer and the log", async () => {
  await withGateway(async ({ gateway, one }) => {
    gateway.write({
      providers: { first: { ...provider(one), kind: "nonsense" } },
      models: [textModel("acme/two", ["nobody"])],
      egress: { allow: ["127.0.0.1/99"] },
    });
    const { status, body } = await gateway.admin("POST", RELOAD);
    assertEquals(status, 400);
    const { problems } = body.error as { problems: string[] };
    assertEquals(problems.map((line) => line.slice(0, line.indexOf(": expected"))).toSorted(), [
      "live.json: egress.allow[0]",
      "live.json: models[0].serves[0].provider",
      "live.json: providers.first.kind",
    ]);
    assertEquals(gateway.logLines.filter((line) => line.includes("config_rejected")).length, 3);
    assertEquals(contentOf(await gateway.chat("acme/one")), "one");

    gateway.writeText("{ not: [ valid");
    assertEquals((await gateway.admin("POST", RELOAD)).status, 400);
    gateway.writeText(JSON.stringify({ egress: { ca_file: "/missing/roots.pem" } }));
    const unreadable = await gateway.admin("POST", RELOAD);
    assertEquals(unreadable.status, 400);
    assertStringIncludes(JSON.stringify(unreadable.body), "egress.ca_file: expected a readable file");
    assertEquals(contentOf(await gateway.chat("acme/one")), "one");
  });
});

Deno.test("a stream of a removed provider ends well, is charged, and no later request uses that provider", async () => {
  const streamEnd = Promise.withResolvers<void>();
  await withGateway(async ({ gateway, two }) => {
    const textOfAll = await openStream(gateway);
    gateway.write({ providers: { second: provider(two) }, models: [textModel("acme/one", ["second"])] });
    assertEquals((await gateway.admin("POST", RELOAD)).status, 200);
    assertEquals(contentOf(await gateway.chat("acme/one")), "two");
    streamEnd.resolve();
    const text = await textOfAll();
    assertStringIncludes(text, '"content":"one"');
    assertStringIncludes(text, "[DONE]");
    assertEquals(text.includes("error"), false);
    const { body } = await gateway.admin("GET", "/accounts/demo/ledger");
    const providers = (body.data as { requests?: { provider: string }[] }[]).flatMap(({ requests = [] }) => requests)
      .map((request) => request.provider);
    assertEquals(providers.toSorted(), ["first", "second"]);
  }, { streamEnd });
});

Deno.test("an unchanged provider keeps its connections and circuits through a reload, a changed one does not", async () => {
  await withGateway(async ({ gateway, one, two }) => {
    await gateway.chat("acme/one");
    gateway.write({
      providers: { first: provider(one), second: provider(two) },
      models: [textModel("acme/one", ["first"]), textModel("acme/two", ["second"])],
    });
    await gateway.admin("POST", RELOAD);
    await gateway.chat("acme/one");
    assertEquals(one.connections, 1);
    const attempts = async () => {
      const { body } = await gateway.admin("GET", "/providers");
      return (body.data as { name: string; succeeded: number }[]).map(({ name, succeeded }) => [name, succeeded]);
    };
    await eventually(async () => (await attempts())[0]?.[1] === 2); // other threads count a little later
    assertEquals(await attempts(), [["first", 2], ["second", 0]]);
    gateway.write({ providers: { first: provider(one, "vendor-key-two"), second: provider(two) } });
    const { body } = await gateway.admin("POST", RELOAD);
    assertEquals(body.changed, { providers: { first: { api_key: "changed" } } });
    assertEquals(await attempts(), [["first", 0], ["second", 0]]);
    await gateway.chat("acme/one");
    assertEquals(one.connections, 2);
    assertEquals(one.seen.at(-1)?.headers.get("authorization"), "Bearer vendor-key-two");
  });
});

Deno.test("settings that need a restart are named at each reload until then, and do not take effect", async () => {
  await withGateway(async ({ gateway }) => {
    gateway.write({ retention: { files: 3600 }, limits: { memory: 20_000_000, text_body: 300 } });
    const first = await gateway.admin("POST", RELOAD);
    assertEquals((first.body.restart as string[]).toSorted(), ["limits.memory", "retention.files"]);
    assertEquals(first.body.changed, { limits: { text_body: { value: { before: null, after: 300 } } } });
    const again = await gateway.admin("POST", RELOAD);
    assertEquals(again.body.restart, first.body.restart);
    assertEquals(again.body.changed, {});
    assert(gateway.app.memory.limitBytes !== 20_000_000);
    assertEquals((await gateway.chat("acme/one", gateway.key)).status, 200);
    const large = await gateway.chat("acme/" + "x".repeat(400));
    assertEquals(large.status, 413);
  });
});

Deno.test("a reload adds the accounts and keys of the file, and revokes the keys that it no longer declares", async () => {
  await withGateway(async ({ gateway }) => {
    const added = newApiKey();
    gateway.write({ accounts: [{ id: "demo", balance: "25.00", keys: [added] }, { id: "other", balance: "1.00" }] });
    assertEquals((await gateway.chat("acme/one")).status, 200);
    const { body } = await gateway.admin("POST", RELOAD);
    assertEquals(body.added, { accounts: ["other"] });
    assertEquals(body.changed, { accounts: { demo: { keys: "changed" } } });
    assertEquals((body.revoked_keys as string[]).length, 1);
    assertEquals((await gateway.chat("acme/one")).status, 401);
    assertEquals((await gateway.chat("acme/one", added)).status, 200);
    assertEquals((await gateway.admin("GET", "/accounts/other")).body.balance, "1.0000000000");

    gateway.write({ accounts: [{ id: "other", keys: [added] }] });
    const foreign = await gateway.admin("POST", RELOAD);
    assertEquals((foreign.body.error as { problems: string[] }).problems, [
      'live.json: accounts[0].keys[0]: expected a key of no other account, got one of "demo"',
    ]);
    assertEquals((await gateway.chat("acme/one", added)).status, 200);
  });
});

Deno.test("an open call of an account that a reload removes ends well and is charged, and its keys of the file end", async () => {
  const streamEnd = Promise.withResolvers<void>();
  await withGateway(async ({ gateway }) => {
    const textOfAll = await openStream(gateway);
    gateway.write({ accounts: [{ id: "other", balance: "1.00" }] });
    const { status, body } = await gateway.admin("POST", RELOAD);
    assertEquals([status, body.removed], [200, { accounts: ["demo"] }]);
    assertEquals((await gateway.chat("acme/one")).status, 401);
    streamEnd.resolve();
    const text = await textOfAll();
    assertStringIncludes(text, "[DONE]");
    assertEquals(text.includes("error"), false);
    const ledger = await gateway.admin("GET", "/accounts/demo/ledger");
    const charges = (ledger.body.data as { operation: string }[]).filter(({ operation }) => operation === "charge");
    assertEquals(charges.length, 1, JSON.stringify(ledger.body));
    assertEquals((await gateway.admin("GET", "/accounts/demo")).body.held, "0.0000000000");
  }, { streamEnd });
});

Deno.test("fifty reloads under load fail no request", async () => {
  await withGateway(async ({ gateway, one, two }) => {
    let isOver = false;
    const statuses = new Map<number, number>();
    const callers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const { status } = await gateway.chat("acme/one");
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    for (let round = 0; round < 50; round++) {
      const name = round % 2 === 0 ? "second" : "first";
      gateway.write({
        providers: { [name]: provider(round % 2 === 0 ? two : one) },
        models: [textModel("acme/one", [name])],
      });
      assertEquals((await gateway.admin("POST", RELOAD)).status, 200);
    }
    isOver = true;
    await Promise.all(callers);
    assertEquals([...statuses.keys()], [200]);
  });
});

Deno.test("settings of the store: set, patched, shown, restored and removed, as versions", async () => {
  await withGateway(async ({ gateway, two }) => {
    const put = await gateway.admin("PUT", "/config/providers/second", provider(two));
    assertEquals([put.status, put.body.version, put.body.added], [200, 1, { providers: ["second"] }]);
    const { id: _id, ...fields } = textModel("acme/two", ["second"]);
    assertEquals((await gateway.admin("PUT", "/config/models/second/model", fields)).body.version, 2);
    assertEquals(contentOf(await gateway.chat("second/model")), "two");
    const patched = await gateway.admin("PATCH", "/config/models/second/model", { pricing: { prompt: "0.0005" } });
    assertEquals(patched.body.changed, {
      models: { "second/model": { "pricing.prompt": { before: "0.000001", after: "0.0005" } } },
    });
    assertEquals((await gateway.admin("PUT", "/config/limits/text_body", { value: 5_000 })).status, 200);

    const shown = JSON.stringify((await gateway.admin("GET", "/config")).body);
    assertEquals(shown.includes("vendor-key-one") || shown.includes(gateway.key), false);
    const { settings, version } = JSON.parse(shown);
    assertEquals(version, 4);
    assertEquals(settings.providers.second.owner, "store version 4");
    assertEquals(settings.providers.second.value.api_key, "(set)");
    assertStringIncludes(settings.providers.first.owner, "live.json");
    assertEquals(settings.models["acme/one"].path, "models[0]");
    assertEquals(settings.limits.text_body, { value: 5_000, owner: "store version 4" });
    assertEquals(settings.limits.body_idle, { value: 15, owner: "default" });

    const versions = (await gateway.admin("GET", "/config/versions?limit=2")).body;
    assertEquals((versions.data as { version: number; by: string }[]).map((each) => [each.version, each.by]), [
      [4, "default"],
      [3, "default"],
    ]);
    assertEquals(versions.next, 3);
    const restored = await gateway.admin("POST", "/config/versions/2/restore");
    assertEquals([restored.status, restored.body.version], [200, 5]);
    assertEquals(restored.body.changed, {
      models: { "second/model": { "pricing.prompt": { before: "0.0005", after: "0.000001" } } },
      limits: { text_body: { value: { before: 5_000, after: null } } },
    });
    assertEquals((await gateway.admin("DELETE", "/config/providers/second")).status, 400);
    assertEquals((await gateway.admin("DELETE", "/config/models/second/model")).status, 200);
    assertEquals((await gateway.admin("DELETE", "/config/providers/second")).status, 200);
    assertEquals((await gateway.chat("second/model")).status, 404);
  });
});

Deno.test("the admin API refuses what the file declares, expressions, and a kept credential for a new address", async () => {
  await withGateway(async ({ gateway, one, two }) => {
    const owned = await gateway.admin("PATCH", "/config/providers/first", { api_key: "vendor-key-two" });
    assertEquals(owned.status, 409);
    assertStringIncludes(JSON.stringify(owned.body), "(live.json: providers.first)");
    const model = await gateway.admin("DELETE", "/config/models/acme/one");
    assertEquals(model.status, 409);
    assertStringIncludes(JSON.stringify(model.body), "(live.json: models[0])");
    const expression = await gateway.admin("PUT", "/config/providers/second", provider(two, "${SECRET}"));
    assertEquals(expression.status, 400);

    await gateway.admin("PUT", "/config/providers/second", provider(two));
    const moved = await gateway.admin("PATCH", "/config/providers/second", { base_url: one.baseUrl });
    assertEquals([moved.status, (moved.body.error as { field: string }).field], [400, "api_key"]);
    const again = { base_url: one.baseUrl, api_key: "vendor-key-two" };
    assertEquals((await gateway.admin("PATCH", "/config/providers/second", again)).status, 200);

    const entra_id = { tenant: "t", client_id: "c", client_secret: "s-one-of-entra" };
    const azure = { kind: "azure", base_url: "http://127.0.0.1:1", entra_id };
    assertEquals((await gateway.admin("PUT", "/config/providers/azure", azure)).status, 200);
    for (
      const fields of [
        { base_url: one.baseUrl, entra_id: {} },
        { entra_id: { token_url: one.baseUrl } },
        { entra_id: { tenant: "other" } },
      ]
    ) {
      const kept = await gateway.admin("PATCH", "/config/providers/azure", fields);
      assertEquals([kept.status, (kept.body.error as { field: string }).field], [400, "entra_id.client_secret"]);
    }
    const scoped = await gateway.admin("PATCH", "/config/providers/azure", {
      entra_id: { scope: "https://a/.default" },
    });
    assertEquals(scoped.status, 200);
    assert(!JSON.stringify((await gateway.admin("GET", "/config")).body).includes("s-one-of-entra"));
    assertEquals((await gateway.admin("DELETE", "/config/providers/azure")).status, 200);

    const invalid = await gateway.admin("PUT", "/config/models/acme/two", { serves: [{ provider: "nobody" }] });
    assertEquals(invalid.status, 400);
    assertStringIncludes(JSON.stringify(invalid.body), "store: models.acme/two.serves[0].provider: expected");
    assertEquals((await gateway.admin("PUT", "/config/server/port", { value: 1 })).status, 400);
    assertEquals((await gateway.admin("GET", "/config")).body.version, 5);
  });
});

Deno.test("a patch that changes the address of a provider keeps no stored credential that it does not send", async () => {
  await withGateway(async ({ gateway, one, two }) => {
    const stored: Record<string, unknown> = {
      ...provider(two),
      headers: { "x-key": "a-stored-key", "x-other": "a-stored-text" },
    };
    assertEquals((await gateway.admin("PUT", "/config/providers/second", stored)).status, 200);
    const refused = async (fields: Record<string, unknown>) => {
      const { status, body } = await gateway.admin("PATCH", "/config/providers/second", fields);
      return status === 200 ? null : (body.error as { field: string }).field;
    };
    const moved = { base_url: one.baseUrl, api_key: "vendor-key-one" };
    assertEquals(await refused({ ...moved, headers: { "x-new": "1" } }), "headers.x-key");
    assertEquals(await refused({ ...moved, headers: {} }), "headers.x-key");
    assertEquals(await refused({ ...moved, headers: { "x-key": "another", "x-new": "1" } }), "headers.x-other");
    assertEquals(await refused(moved), "headers.x-key");
    assertEquals(await refused({ headers: { "x-new": "1" } }), null); // the address is the same
    assertEquals(await refused({ ...moved, headers: { "x-key": "another", "x-other": null, "x-new": "2" } }), null);

    const key = { kind: "google", base_url: "http://127.0.0.1:1" };
    const several = {
      ...key,
      credentials: [{ name: "a", api_key: "stored-key-a" }, { name: "b", api_key: "stored-b" }],
    };
    assertEquals((await gateway.admin("PUT", "/config/providers/second", several)).status, 200);
    assertEquals(await refused({ base_url: one.baseUrl }), "credentials");
    assertEquals(await refused({ base_url: one.baseUrl, credentials: [{ name: "c", api_key: "new-key-c" }] }), null);
  });
});

Deno.test("a dry run answers with the difference and changes nothing", async () => {
  await withGateway(async ({ gateway, two }) => {
    const body = { providers: { second: provider(two) }, models: [textModel("acme/two", ["second"])] };
    const dry = await gateway.admin("PUT", "/config?dry_run=true", body);
    assertEquals(dry.body.added, { providers: ["second"], models: ["acme/two"] });
    assertEquals((await gateway.chat("acme/two")).status, 404);
    assertEquals((await gateway.admin("GET", "/config")).body.version, 0);
    assertEquals((await gateway.admin("PUT", "/config", body)).body.version, 1);
    assertEquals(contentOf(await gateway.chat("acme/two")), "two");
  });
});
