import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { changeAccountSettings, readAccount } from "../../src/money/billing/accounts/account.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { ensureConfiguredAccounts } from "../../src/money/billing/declared/configured_accounts.ts";
import { configuredAccountsSchema } from "../../src/money/billing/declared/accounts_section.ts";
import { changeKey, listKeys, readKey } from "../../src/money/billing/keys/issued_key.ts";
import { createKeyRing } from "../../src/money/billing/keys/key_ring.ts";
import { isUnlimited, shownOverdraft } from "../../src/money/billing/accounts/unlimited_balance.ts";
import { readWebhookSecrets } from "../../src/money/billing/accounts/webhook_secret.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { itemAt } from "../support/items.ts";
import { manualClock } from "./support.ts";

const KEY = "sk-sy-demo-key-of-the-configuration";
const DEMO = { id: "demo", balance: 250n, keys: [KEY], webhookSecret: "whsec_given" };

Deno.test("ensureConfiguredAccounts() creates missing accounts with their keys", async () => {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  const ensured = await ensureConfiguredAccounts(store, [DEMO, { id: "other", balance: 0n, keys: [] }]);
  assertEquals(ensured.keysAdded, 1);
  assertEquals(ensured.created[0], { id: "demo", generatedWebhookSecret: null });
  assertMatch(itemAt(ensured.created, 1).generatedWebhookSecret!, /^whsec_/);
  assertEquals((await createKeyRing({ store, clock }).resolve(KEY)).accountId, "demo");
  assertEquals(await readWebhookSecrets(store, "demo"), ["whsec_given"]);
});

Deno.test("ensureConfiguredAccounts() at each later start credits, adds and changes nothing", async () => {
  const store = await openMemoryStore({ clock: manualClock() });
  await ensureConfiguredAccounts(store, [DEMO]);
  await store.commit(null, { changeBalances: [{ account: "demo", available: -200n, held: 0n }] });
  const again = await ensureConfiguredAccounts(store, [{ ...DEMO, balance: 999n, webhookSecret: "whsec_other" }]);
  assertEquals(again, { created: [], keysAdded: 0 });
  assertEquals((await readAccount(store, "demo")).available, 50n);
  assertEquals(await readWebhookSecrets(store, "demo"), ["whsec_given"]);
});

Deno.test("ensureConfiguredAccounts() adds a new key to an existing account and restores no revoked one", async () => {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  await ensureConfiguredAccounts(store, [DEMO]);
  const ring = createKeyRing({ store, clock });
  await ring.revoke("demo", itemAt((await listKeys(store, "demo", { limit: 1 })).keys, 0).id);
  const added = newApiKey();
  assertEquals((await ensureConfiguredAccounts(store, [{ ...DEMO, keys: [KEY, added] }])).keysAdded, 1);
  assertEquals((await ring.resolve(added)).accountId, "demo");
  await assertRejects(async () => await ring.resolve(KEY));
});

Deno.test("ensureConfiguredAccounts() refuses one key for two accounts and does not print it", async () => {
  const store = await openMemoryStore({ clock: manualClock() });
  const refused = await assertRejects(() => ensureConfiguredAccounts(store, [DEMO, { ...DEMO, id: "other" }]), Error);
  assertMatch(refused.message, /"demo" and "other"/);
  assertEquals(refused.message.includes(KEY), false);
});

Deno.test("the accounts section reads an account as the operator writes it", () => {
  const section = [{ id: "demo", balance: "25.00", keys: [KEY], webhook_secret: "whsec_given" }, {
    id: "bare",
    webhook_secret: "",
  }];
  assertEquals(configuredAccountsSchema.parse(section), [
    { ...DEMO, balance: 250_000_000_000n, settings: { balance: "prepaid" } },
    { id: "bare", balance: 0n, keys: [] },
  ]);
});

Deno.test("the accounts section refuses mistakes by their path and prints no key", () => {
  const forged = "sk-sy-" + "a".repeat(49);
  const mistakes: [unknown, string][] = [
    [[{ id: "a/b" }], "0.id"],
    [[{ id: "a", balance: "-1" }], "0.balance"],
    [[{ id: "a", balance: 25 }], "0.balance"],
    [[{ id: "a", balance: "abc" }], "0.balance"],
    [[{ id: "a", balance: "unlimited", overdraft: "5" }], "0.overdraft"],
    [[{ id: "a", keys: ["short"] }], "0.keys.0"],
    [[{ id: "a", keys: [forged] }], "0.keys.0"],
    [[{ id: "a", webhook_secret: "short" }], "0.webhook_secret"],
    [[{ id: "a", colour: "red" }], "0"],
  ];
  for (const [section, path] of mistakes) {
    const { success, error } = configuredAccountsSchema.safeParse(section);
    assertEquals([success, error?.issues[0]?.path.join(".")], [false, path]);
    assertEquals(String(error).includes(forged), false);
  }
});

Deno.test("the accounts section reads limits of accounts and keys, and keys as text or as a section", () => {
  const [account] = configuredAccountsSchema.parse([{
    id: "acme",
    name: "Acme Ltd",
    rpm: 600,
    keys: [KEY, { key: `${KEY}-2`, name: "ci", models: ["openai/*"], expires_at: "2027-01-01" }],
  }]);
  assertEquals(account?.settings, { name: "Acme Ltd", rpm: 600 });
  assertEquals(account?.keys, [KEY, {
    secret: `${KEY}-2`,
    settings: { name: "ci", models: ["openai/*"], expires_at: Date.UTC(2027, 0, 1) },
  }]);
});

Deno.test("ensureConfiguredAccounts() makes a balance unlimited, and prepaid once the file has an amount", async () => {
  const store = await openMemoryStore({ clock: manualClock() });
  const read = async (account: Record<string, unknown>) => {
    await ensureConfiguredAccounts(store, configuredAccountsSchema.parse([{ id: "acme", ...account }]));
    const { available, ...balance } = await readAccount(store, "acme");
    return [available, isUnlimited(balance), shownOverdraft(balance)];
  };
  assertEquals(await read({ balance: "unlimited" }), [0n, true, 0n]);
  assertEquals(await read({}), [0n, true, 0n]);
  assertEquals(await read({ balance: "25.00" }), [0n, false, 0n]);
  assertEquals(await read({ balance: "25.00", overdraft: "0.0000000007" }), [0n, false, 7n]);
  assertEquals(await read({ balance: "25.00" }), [0n, false, 7n]);
});

Deno.test("ensureConfiguredAccounts() sets the declared settings at every start and keeps the others", async () => {
  const store = await openMemoryStore({ clock: manualClock() });
  const settings = { name: "ci", rpm: 60, budget: { amount: 5n, per: "day" } } as const;
  const account = { ...DEMO, keys: [{ secret: KEY, settings }], settings: { concurrency: 8 } };
  await ensureConfiguredAccounts(store, [account]);
  const { id } = itemAt((await listKeys(store, "demo", { limit: 1 })).keys, 0);
  await changeKey(store, "demo", id, { rpm: 1, tpm: 7 });
  await changeAccountSettings(store, "demo", { concurrency: null, rpm: 9 });
  await ensureConfiguredAccounts(store, [account]);
  const { name, limits } = await readKey(store, "demo", id);
  assertEquals([name, limits], ["ci", { rpm: 60, tpm: 7, budget: { amount: 5n, per: "day" } }]);
  assertEquals((await readAccount(store, "demo")).limits, { concurrency: 8, rpm: 9 });
});
