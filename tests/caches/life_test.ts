import { assertEquals, assertNotEquals } from "@std/assert";
import {
  cacheRecords,
  CACHES_PATH,
  CONTENT_TOKENS,
  CONTENTS,
  inGateway,
  MODELS,
  vendorCaches,
} from "./cache_gateway.ts";
import { eventually } from "../support/account_money.ts";

inGateway(
  "a reference goes to the provider of the cache, and a pin elsewhere is 400 and names that provider",
  async (gateway) => {
    for (const provider of ["sandbox-google", "sandbox-anthropic", "sandbox-openai"]) {
      const pin = { "x-service-provider-type": provider };
      const created = await gateway.call("POST", CACHES_PATH, { model: "sandbox/any-1", contents: CONTENTS }, pin);
      assertEquals([created.status, created.headers.get("x-service-provider")], [200, provider]);
      const { name } = created.json;
      for (let times = 0; times < 6; times++) {
        const { status, headers } = await gateway.send("sandbox/any-1", name);
        assertEquals([status, headers.get("x-service-provider")], [200, provider]);
      }
      const path = "/gencompat/v1beta/models/sandbox/any-1:generateContent";
      const body = { contents: [{ parts: [{ text: "Hi" }] }], cachedContent: name };
      assertEquals((await gateway.call("POST", path, body, pin)).status, 200);
      const elsewhere = provider === "sandbox-openai" ? "sandbox-google" : "sandbox-openai";
      const { status, json } = await gateway.call("POST", path, body, { "x-service-provider-type": elsewhere });
      assertEquals([status, json.error.message.includes(`"${provider}"`)], [400, true]);
    }
    const unserved = { "x-service-provider-type": "sandbox-anthropic" };
    const refused = await gateway.call("POST", CACHES_PATH, { model: "sandbox/chat-1", contents: CONTENTS }, unserved);
    assertEquals([refused.status, refused.json.error.type], [400, "provider_type_unavailable"]);
  },
);

inGateway("an emulated cache is used at another provider after a failure, and a native one is not", async (gateway) => {
  const pin = (provider: string) => ({ "x-service-provider-type": provider });
  const body = { model: "sandbox/any-1", contents: CONTENTS };
  const emulated = (await gateway.call("POST", CACHES_PATH, body, pin("sandbox-anthropic"))).json.name;
  const native = (await gateway.call("POST", CACHES_PATH, body, pin("sandbox-google"))).json.name;
  // Fails once, at the first provider.
  const flaky = { contents: [{ parts: [{ text: "[[flaky 1]] Which colour?" }] }] };
  const survived = await gateway.send("sandbox/any-1", emulated, flaky);
  assertEquals(survived.status, 200);
  assertNotEquals(survived.headers.get("x-service-provider"), "sandbox-anthropic");
  assertEquals(survived.json.usageMetadata.cachedContentTokenCount, CONTENT_TOKENS);
  const failing = { contents: [{ parts: [{ text: "[[fail 503]]" }] }] };
  const asked = gateway.seen("/").length;
  assertEquals((await gateway.send("sandbox/any-1", native, failing)).status, 503);
  assertEquals(gateway.seen("/").length, asked + 1);
});

inGateway(
  "patch changes the expiry, at the vendor too, and model, name and contents are immutable",
  async (gateway) => {
    for (const model of MODELS) {
      const name = await gateway.create({ model });
      const path = `/gencompat/v1beta/${name}`;
      const expireTime = new Date(gateway.clock.now() + 3_000_000).toISOString();
      const { status, json } = await gateway.call("PATCH", `${path}?updateMask=expireTime`, { expireTime });
      assertEquals([status, json.expireTime], [200, expireTime], model);
      for (const fields of [{ model }, { displayName: "new" }, { contents: CONTENTS }, {}, { ttl: "599s" }]) {
        assertEquals((await gateway.call("PATCH", path, fields)).status, 400, JSON.stringify(fields));
      }
      assertEquals((await gateway.call("PATCH", `${path}?updateMask=displayName`, { ttl: "700s" })).status, 400);
      gateway.clock.shift(2_900_000);
      assertEquals((await gateway.send(model, name)).status, 200, "it lives on");
      gateway.clock.shift(200_000);
      assertEquals((await gateway.send(model, name)).status, 404, "and ends");
    }
    assertEquals(gateway.seen("updateMask=expireTime").length, 1);
  },
);

inGateway("a shorter expiry takes effect, and the contents are removed soon after it", async (gateway) => {
  for (const model of MODELS) {
    const name = await gateway.create({ model, ttl: "3600s" });
    await gateway.call("PATCH", `/gencompat/v1beta/${name}`, { ttl: "600s" });
    gateway.clock.shift(601_000);
    const expired = await gateway.send(model, name);
    assertEquals([expired.status, expired.json.error.status], [404, "NOT_FOUND"]);
    assertEquals((await gateway.call("GET", `/gencompat/v1beta/${name}`)).status, 404);
    assertEquals((await gateway.call("GET", CACHES_PATH)).json, { cachedContents: [] });
    gateway.clock.shift(60_000);
    await eventually(async () => gateway.files().length === 0 && (await cacheRecords(gateway)) === 0);
  }
});

inGateway("delete is answered {}, reaches the vendor, and a second one is 404", async (gateway) => {
  for (const model of MODELS) {
    const path = `/gencompat/v1beta/${await gateway.create({ model })}`;
    assertEquals(gateway.files().length, model === "sandbox/content-1" ? 0 : 1);
    const { status, json } = await gateway.call("DELETE", path);
    assertEquals([status, json], [200, {}]);
    assertEquals((await gateway.call("DELETE", path)).status, 404);
    await eventually(async () => gateway.files().length === 0 && (await cacheRecords(gateway)) === 0);
  }
  assertEquals(gateway.seen("/cachedContents/").filter(({ method }) => method === "DELETE").length, 1);
});

inGateway("a reference to content that is removed during the call is 404 and costs nothing", async (gateway) => {
  const name = await gateway.create({ model: "sandbox/messages-1" });
  const before = await gateway.purse.balance();
  for (const file of gateway.files()) await Deno.remove(`${gateway.filesFolder}/caches/${file}`);
  const { status, json } = await gateway.send("sandbox/messages-1", name);
  assertEquals([status, json.error.status], [404, "NOT_FOUND"]);
  assertEquals(await gateway.purse.balance(), before);
});

inGateway("a cache that the vendor has lost is 404, and the call costs nothing", async (gateway) => {
  const name = await gateway.create({ model: "sandbox/content-1" });
  const [{ name: lost }] = (await vendorCaches(gateway)).cachedContents;
  await fetch(`${gateway.sandbox.baseUrls.google}/v1beta/${lost}?key=sandbox-key-google`, { method: "DELETE" })
    .then((response) => response.body?.cancel());
  const before = await gateway.purse.balance();
  const { status, json } = await gateway.send("sandbox/content-1", name);
  assertEquals([status, json.error.status], [404, "NOT_FOUND"]);
  const chat = {
    model: "sandbox/content-1",
    messages: [{ role: "user", content: "Hi" }],
    extra_body: { cached_content: name },
  };
  assertEquals((await gateway.call("POST", "/v1/chat/completions", chat)).status, 404);
  assertEquals((await gateway.call("PATCH", `/gencompat/v1beta/${name}`, { ttl: "700s" })).status, 404);
  assertEquals(await gateway.purse.balance(), before);
  assertEquals(
    (await gateway.send("sandbox/content-1", await gateway.create({ model: "sandbox/content-1" }))).status,
    200,
  );
});

inGateway(
  "a native cache is created with the gateway's mark and the same expiry, and deleted with the gateway's",
  async (gateway) => {
    const { json } = await gateway.call("POST", CACHES_PATH, {
      model: "sandbox/content-1",
      contents: CONTENTS,
      displayName: "sky",
    });
    const [kept] = (await vendorCaches(gateway)).cachedContents;
    assertEquals([kept.displayName, kept.expireTime], [json.name.slice("cachedContents/".length), json.expireTime]);
    assertEquals(kept.model, "models/content-1");
    const asked = await gateway.send("sandbox/content-1", json.name);
    assertEquals(asked.status, 200);
    const sent = gateway.seen(":generateContent").at(-1)!.body as Record<string, unknown>;
    const contents = [{ role: "user", parts: [{ text: "Which colour?" }] }];
    assertEquals(sent, { contents, cachedContent: kept.name, store: false });
    await gateway.call("DELETE", `/gencompat/v1beta/${json.name}`);
    await eventually(async () => (await vendorCaches(gateway)).cachedContents === undefined);
  },
);
