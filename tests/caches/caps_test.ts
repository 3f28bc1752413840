import { assertEquals, assertStringIncludes } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { eventually } from "../support/account_money.ts";
import { cacheRecords, CACHES_PATH, CONTENTS, inGateway, MODELS, vendorCaches } from "./cache_gateway.ts";

const BODY = { model: "sandbox/chat-1", contents: CONTENTS };

inGateway("an API key gets no cached content above its maximum number, and another after a delete", async (gateway) => {
  const [first] = [await gateway.create(), await gateway.create({ model: "sandbox/content-1" })];
  for (const model of MODELS) {
    const { status, json } = await gateway.call("POST", CACHES_PATH, { ...BODY, model });
    assertEquals([status, json.error.status], [429, "RESOURCE_EXHAUSTED"]);
    assertStringIncludes(json.error.message, "may have 2 cached contents at a time and has 2");
  }
  await eventually(async () => await cacheRecords(gateway) === 2 && gateway.files().length === 1);
  assertEquals((await vendorCaches(gateway)).cachedContents.length, 1);
  const other = callerOf(gateway.address, { "x-content-api-key": gateway.otherKey });
  assertEquals((await other("POST", CACHES_PATH, BODY)).status, 200);
  assertEquals((await gateway.call("DELETE", `/gencompat/v1beta/${first}`)).status, 200);
  assertEquals((await gateway.call("POST", CACHES_PATH, BODY)).status, 200);
}, { limits: { cached_contents: { count: 2 } } });

inGateway("concurrent creations stay within the maximum number", async (gateway) => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => gateway.call("POST", CACHES_PATH, BODY)));
  const made = answers.filter(({ status }) => status === 200).length;
  assertEquals([made <= 4, answers.every(({ status }) => status === 200 || status === 429)], [true, true]);
  await eventually(async () => await cacheRecords(gateway) === made);
}, { limits: { cached_contents: { count: 4 } } });

inGateway(
  "an API key gets no cached content above its maximum bytes, and none is charged or stored",
  async (gateway) => {
    await gateway.create();
    const balance = await gateway.purse.balance();
    const { status, json } = await gateway.call("POST", CACHES_PATH, BODY);
    assertEquals([status, json.error.status], [429, "RESOURCE_EXHAUSTED"]);
    assertStringIncludes(json.error.message, "may have 6000 bytes of cached contents at a time");
    await eventually(async () => await cacheRecords(gateway) === 1 && gateway.files().length === 1);
    assertEquals(await gateway.purse.balance(), balance);
  },
  { limits: { cached_contents: { bytes: 6_000 } } },
);

inGateway("a cached content expires with its retention, whatever its ttl", async (gateway) => {
  for (const model of MODELS) {
    const createdAt = gateway.clock.now();
    const name = await gateway.create({ model, ttl: "3600s" });
    const path = `/gencompat/v1beta/${name}`;
    const endsAt = async () => Date.parse((await gateway.call("GET", path)).json.expireTime);
    const isWithin = (at: number) => at >= createdAt + 1_200_000 && at <= gateway.clock.now() + 1_200_000;
    assertEquals(isWithin(await endsAt()), true, model);
    assertEquals((await gateway.call("PATCH", path, { ttl: "3600s" })).status, 200);
    assertEquals(isWithin(await endsAt()), true, model);
  }
}, { retention: { cached_contents: 1_200 } });
