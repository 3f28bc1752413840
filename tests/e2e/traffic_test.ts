import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { eventually } from "../support/account_money.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { CHAT, type Json, MESSAGES, sendAs } from "./caller_protocols.ts";

const DAY_SECONDS = 86_400;

function adminOf(gateway: TestGateway) {
  const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
  return async (query: string) => await admin("GET", `/admin/v1/traffic?${query}`);
}

/** The groups of an answer with the facts that do not depend on the speed of the machine. */
function groupsOf(json: Json): Record<string, unknown> {
  return Object.fromEntries(
    json.groups.data.map(({ name, requests, errors, cost }: Json) => [name, [requests, errors, readMoney(cost)]]),
  );
}

for (const isolates of [1, 2]) {
  Deno.test(`GET /admin/v1/traffic breaks a time range down, with ${isolates} threads`, async () => {
    const gateway = await startTestGateway({ isolates });
    const traffic = adminOf(gateway);
    const from = Math.floor(Date.now() / 1_000) - 60;
    const chats = [await sendAs(CHAT, gateway), await sendAs(CHAT, gateway)];
    const message = await sendAs(MESSAGES, gateway);
    assertEquals((await sendAs(CHAT, gateway, { model: "sandbox/none" })).status, 404);
    const costs = [...chats, message].map(({ headers }) => readMoney(headers.get("x-service-cost") ?? ""));
    const [one = 0n, two = 0n, other = 0n] = costs;

    const of = async (by: string) => (await traffic(`from=${from}&group_by=${by}`)).json;
    const all = await eventually(async () => {
      const json = await of("account");
      return json.groups.data[0]?.requests === 4 && json.total.requests >= 4 ? json : null;
    });
    assertEquals([all.span, all.groups.by, all.groups.omitted, all.groups.to], [null, "account", 0, all.total.to]);
    assertEquals(groupsOf(all).demo, [4, { model_not_found: 1 }, one + two + other]);
    assert(all.groups.data[0].duration_ms.p50 >= 0 && all.groups.data[0].input_tokens > 0);
    const models = groupsOf(await of("model"));
    assertEquals([models["sandbox/chat-1"], models["sandbox/messages-1"]], [[2, {}, one + two], [1, {}, other]]);
    assertEquals(models["sandbox/none"], [1, { model_not_found: 1 }, 0n]);
    const providers = groupsOf(await of("provider"));
    assertEquals([providers["sandbox-openai"], providers["sandbox-anthropic"]], [[2, {}, one + two], [1, {}, other]]);
    const [key] = Object.keys(groupsOf(await of("key"))).filter((name) => name.startsWith("key_"));
    assert(key !== undefined);
    // A span can be broken down too, and a range in the past has nothing.
    assertEquals(groupsOf((await traffic("span=day&group_by=account")).json).demo, groupsOf(all).demo);
    const past = (await traffic(`from=${from - DAY_SECONDS}&to=${from - 3_600}&group_by=model`)).json;
    assertEquals([past.data, past.total.requests, past.groups.data], [[], 0, []]);
    await gateway.stop();
  });
}

Deno.test("GET /admin/v1/traffic says which time range it keeps, and refuses what contradicts itself", async () => {
  const gateway = await startTestGateway({ config: { request_log: false } });
  const traffic = adminOf(gateway);
  const now = Math.floor(Date.now() / 1_000);
  const refusal = async (query: string) => {
    const { status, json } = await traffic(query);
    assertEquals([query, status, json.error?.code], [query, 400, "invalid_request"]);
    return `${json.error.field}: ${json.error.message}`;
  };
  const early = await refusal(`from=${now - 32 * DAY_SECONDS}`);
  assertStringIncludes(early, "or later, as the last 31 days are kept; GET /admin/v1/usage has");
  assertEquals((await traffic(`from=${now - 31 * DAY_SECONDS}`)).status, 200);
  assertStringIncludes(await refusal(`to=${now}`), "from: ");
  assertStringIncludes(await refusal(`from=${now - 60}&span=day`), "span: ");
  assertStringIncludes(await refusal(`from=${now - 60}&to=${now - 120}`), 'to: Cannot read "to"');
  assertStringIncludes(await refusal(`from=${now + 3_600}`), "a time before now");
  assertStringIncludes(await refusal("from=yesterday"), "whole Unix seconds");
  assertStringIncludes(await refusal("group_by=color"), "one of model, provider, account, key");
  assertStringIncludes(await refusal("group_by=model"), "there is no log of requests");
  await gateway.stop();
});
