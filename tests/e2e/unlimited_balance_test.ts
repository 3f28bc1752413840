import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { itemAt } from "../support/items.ts";
import { startVideoGateway, VALID_BODY } from "../support/video_gateway.ts";
import { CALLER_PROTOCOLS, CHAT, sendAs } from "./caller_protocols.ts";
import { RELOAD, withGateway } from "./changed_gateway.ts";

const PROMPT = "[[words 400]] go";

/** What a whole reply cost. */
function costOf({ headers }: { readonly headers: Headers }): bigint {
  return readMoney(headers.get("x-service-cost") ?? "");
}

const STREAM = { text: PROMPT, stream: true };

async function change(gateway: TestGateway, body: unknown, account = "open") {
  const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
  return await admin("PATCH", `/admin/v1/accounts/${account}`, body);
}

/** A gateway whose account `open` has no balance; with the secret of its key. */
async function openAccount(settings: Readonly<Record<string, unknown>>, options = {}) {
  const gateway = await startTestGateway(options);
  const admin = callerOf(gateway.address, { authorization: `Bearer ${gateway.adminKey}` });
  const created = await admin("POST", "/admin/v1/accounts", { id: "open", ...settings });
  const key: string = (await admin("POST", "/admin/v1/accounts/open/keys")).json.secret;
  return { gateway, admin, created, key, caller: { address: gateway.address, key } };
}

Deno.test("an account with an unlimited balance is charged without credit, in every protocol", async () => {
  const { gateway, admin, created, caller } = await openAccount({ balance: "unlimited" });
  assertEquals([created.status, created.json.unlimited, created.json.balance, created.json.overdraft], [
    201,
    true,
    "0.0000000000",
    "0.0000000000",
  ]);
  let spent = 0n;
  for (const face of CALLER_PROTOCOLS) {
    const [whole, stream] = [await sendAs(face, caller, { text: PROMPT }), await sendAs(face, caller, STREAM)];
    for (const { status, headers } of [whole, stream]) {
      assertEquals([face.name, status, headers.get("x-service-output-limit")], [face.name, 200, null]);
    }
    spent += 2n * costOf(whole);
  }
  const money = accountMoney({ ...gateway, account: "open" });
  await eventually(async () => await money.balance() === -spent);
  const { json: { data } } = await admin("GET", "/admin/v1/accounts/open/ledger?limit=100");
  const charged = data.map(({ balance }: { balance: string }) => readMoney(balance));
  assertEquals(charged.reduce((sum: bigint, each: bigint) => sum + each, 0n), -spent);
  const read = callerOf(gateway.address, { authorization: `Bearer ${caller.key}` });
  const { json: { balance, overdraft, unlimited } } = await read("GET", "/v1/credits");
  assertEquals([readMoney(balance), overdraft, unlimited], [-spent, "0.0000000000", true]);
  assertEquals((await admin("GET", "/admin/v1/accounts/open")).json.forecast.lasts_until, null);
  await gateway.stop();
});

Deno.test("a hundred concurrent calls of an account with an unlimited balance are all served", async () => {
  const { gateway, caller } = await openAccount({ balance: "unlimited" });
  const extra = { max_completion_tokens: 500 };
  const calls = Array.from({ length: 100 }, () => sendAs(CHAT, caller, { text: PROMPT, extra }));
  const answers = await Promise.all(calls);
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([200]));
  const spent = answers.reduce((sum, answer) => sum + costOf(answer), 0n);
  const money = accountMoney({ ...gateway, account: "open" });
  await eventually(async () => await money.balance() === -spent);
  await gateway.stop();
});

Deno.test("a budget limits an account with an unlimited balance", async () => {
  const budget = { amount: "0.0005", per: "total" };
  const { gateway, caller } = await openAccount({ balance: "unlimited", budget });
  const { status, json } = await sendAs(CHAT, caller, { text: PROMPT, extra: { max_completion_tokens: 500 } });
  assertEquals([status, json.error.code], [402, "insufficient_credits"]);
  assertStringIncludes(json.error.message, "budget");
  await gateway.stop();
});

Deno.test("PATCH makes a balance unlimited and prepaid again, from the next call on", async () => {
  const { gateway, caller } = await openAccount({});
  const status = async () => (await sendAs(CHAT, caller, { text: PROMPT })).status;
  assertEquals(await status(), 402);
  const { json: opened } = await change(gateway, { balance: "unlimited" });
  assertEquals([opened.unlimited, await status(), await status()], [true, 200, 200]);
  assertEquals((await change(gateway, { name: "Open" })).json.unlimited, true);
  const { json: ended } = await change(gateway, { balance: "prepaid" });
  assertEquals([ended.unlimited, ended.overdraft], [false, "0.0000000000"]);
  await eventually(async () => await status() === 402); // another gateway of the database learns it within seconds

  await change(gateway, { balance: "unlimited" });
  const { json: limited } = await change(gateway, { overdraft: "5" });
  assertEquals([limited.unlimited, limited.overdraft], [false, "5.0000000000"]);
  assertEquals((await change(gateway, { balance: "prepaid" })).json.overdraft, "5.0000000000");
  assertEquals(await status(), 200);
  await gateway.stop();
});

Deno.test("PATCH and POST refuse an amount in place of a kind, and an overdraft without a limit", async () => {
  const { gateway, admin } = await openAccount({});
  const refusal = async (body: unknown) => {
    const { status, json } = await change(gateway, body);
    return [status, json.error.field, json.error.message];
  };
  assertEquals(await refusal({ balance: "25.00" }), [
    400,
    "balance",
    'Cannot read "balance": expected unlimited or prepaid; credits and adjustments change the amount',
  ]);
  const both = { balance: "unlimited", overdraft: "5" };
  const noOverdraft = [
    400,
    "overdraft",
    'Cannot read "overdraft": expected no overdraft, as the balance is "unlimited"',
  ];
  assertEquals(await refusal(both), noOverdraft);
  const { status, json } = await admin("POST", "/admin/v1/accounts", { id: "both", ...both });
  assertEquals([status, json.error.field, json.error.message], noOverdraft);
  assertEquals((await admin("GET", "/admin/v1/accounts/both")).status, 404);
  await gateway.stop();
});

Deno.test("a video of an account with an unlimited balance is held and captured as any other", async () => {
  const gateway = await startVideoGateway({ balance: "unlimited" });
  const id = await gateway.create();
  assertEquals((await gateway.money()).held, "0.5000000000");
  await gateway.until(id, "completed");
  assertEquals(await gateway.money(), { balance: "-0.5000000000", held: "0.0000000000" });
  const dry = await gateway.call("POST", "/v1/videos", VALID_BODY, { "x-service-dry-run": "true" });
  assert(dry.status < 300, dry.text);
  await gateway.stop();
});

Deno.test("the file declares a balance as unlimited or prepaid, and the API changes neither", async () => {
  await withGateway(async ({ gateway }) => {
    const write = async (settings: Readonly<Record<string, unknown>>) => {
      gateway.write({ accounts: [{ id: "demo", keys: [gateway.key] }, { id: "acme", ...settings }] });
      const { status, body } = await gateway.admin("POST", RELOAD);
      return status === 200 ? (await gateway.admin("GET", "/accounts/acme")).body.unlimited : JSON.stringify(body);
    };
    const patch = async (body: unknown) => {
      const { status, body: { error } } = await gateway.admin("PATCH", "/accounts/acme", body);
      return status === 200 ? 200 : (error as { message: string }).message;
    };
    assertEquals(await write({ balance: "unlimited" }), true);
    const entries = async () => ((await gateway.admin("GET", "/audit?account=acme")).body.data as unknown[]).length;
    const before = await entries();
    assertEquals([await write({ balance: "unlimited" }), await entries()], [true, before]);
    assertStringIncludes(String(await patch({ balance: "prepaid" })), "(live.json: accounts[1].balance)");
    assertStringIncludes(String(await patch({ overdraft: "5" })), "(live.json: accounts[1].balance)");
    assertEquals(await write({ balance: "5.00" }), false);
    assertStringIncludes(String(await patch({ balance: "unlimited" })), "(live.json: accounts[1].balance)");
    assertEquals(await write({}), false);
    assertEquals([await patch({ balance: "unlimited" }), await write({})], [200, true]);
    assertEquals(await write({ overdraft: "3" }), false);
    assertStringIncludes(String(await patch({ balance: "unlimited" })), "(live.json: accounts[1].overdraft)");
    assertStringIncludes(String(await write({ balance: "unlimited", overdraft: "3" })), "accounts[1].overdraft");
    assertStringIncludes(String(await write({ balance: "many" })), 'or \\"unlimited\\"');
  });
});

Deno.test("a running call of a prepaid account is served on after its balance became unlimited", async () => {
  const { gateway, caller, admin } = await openAccount({ balance: "0.02" });
  const streams = Array.from({ length: 2 }, () => sendAs(CHAT, caller, { text: "[[stall 50]] go", stream: true }));
  await change(gateway, { balance: "unlimited" });
  assertEquals((await Promise.all(streams)).map(({ status }) => status), [200, 200]);
  await admin("POST", "/admin/v1/accounts/open/adjust", { amount: "-3", reason: "to test" });
  assertEquals((await sendAs(itemAt(CALLER_PROTOCOLS, 0), caller, { text: PROMPT })).status, 200);
  await gateway.stop();
});
