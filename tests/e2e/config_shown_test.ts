import { assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import type { LiveTestGateway } from "../support/live_gateway.ts";
import { RELOAD, withGateway } from "./changed_gateway.ts";

Deno.test("a difference and GET /config show the limits of keys by their names, and no key", async () => {
  await withGateway(async ({ gateway }) => {
    const [named, unnamed, plain] = [newApiKey(), newApiKey(), newApiKey()];
    const account = (rpm: number) => ({
      id: "acme",
      keys: [plain, { key: unnamed, rpm }, { key: named, name: "ci", rpm, metadata: { team: "search" } }],
    });
    gateway.write({ accounts: [account(60)] });
    await gateway.admin("POST", RELOAD);
    gateway.write({ accounts: [account(61)] });
    const limited = await gateway.admin("POST", RELOAD);
    const change = { before: 60, after: 61 };
    assertEquals(limited.body.changed, { accounts: { acme: { "keys.1.rpm": change, "keys.ci.rpm": change } } });

    const { accounts } = await settingsOf(gateway);
    assertEquals(accounts?.acme?.value, {
      id: "acme",
      keys: ["(set)", { key: "(set)", rpm: 61 }, { key: "(set)", name: "ci", rpm: 61, metadata: { team: "search" } }],
    });

    const [first, ...others] = account(61).keys;
    gateway.write({ accounts: [{ id: "acme", keys: [first, ...others.toReversed()] }] });
    const moved = await gateway.admin("POST", RELOAD);
    assertEquals(moved.body.changed, {
      accounts: {
        acme: {
          "keys.1.key": "changed",
          "keys.1.rpm": { before: 61, after: null },
          "keys.2.key": "changed",
          "keys.2.rpm": { before: null, after: 61 },
        },
      },
    });
    gateway.write({ accounts: [{ id: "acme", keys: [first] }] });
    const removed = JSON.stringify((await gateway.admin("POST", RELOAD)).body);
    assertStringIncludes(removed, '"keys":"changed"');
    for (const key of [named, unnamed, plain]) assertEquals(removed.includes(key), false);
  });
});

type Settings = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;

async function settingsOf(gateway: LiveTestGateway): Promise<Settings> {
  return (await gateway.admin("GET", "/config")).body.settings as Settings;
}

Deno.test("keys with one name, or a number as their name, are shown by their positions", async () => {
  await withGateway(async ({ gateway }) => {
    const keys = [newApiKey(), newApiKey(), newApiKey()];
    const account = (rpm: number) => ({
      id: "acme",
      keys: keys.map((key, i) => ({ key, name: i < 2 ? "ci" : "0", rpm })),
    });
    gateway.write({ accounts: [account(60)] });
    await gateway.admin("POST", RELOAD);
    gateway.write({ accounts: [account(61)] });
    const { body } = await gateway.admin("POST", RELOAD);
    const change = { before: 60, after: 61 };
    assertEquals(body.changed, {
      accounts: { acme: { "keys.0.rpm": change, "keys.1.rpm": change, "keys.2.rpm": change } },
    });
  });
});

Deno.test("GET /config names the file and the path of settings without fields, or the environment", async () => {
  await withGateway(async ({ gateway }) => {
    gateway.write({ files: "./files" });
    await gateway.admin("POST", RELOAD);
    const { store, files, console } = await settingsOf(gateway);
    const [owner] = [String(store?.[""]?.owner)];
    assertStringIncludes(owner, "live.json");
    assertEquals(store?.[""], { value: "kv::memory:", owner, path: "store" });
    assertEquals(files?.[""], { value: "./files", owner, path: "files" });
    assertEquals(console?.[""], { value: null, owner: "default" });
    gateway.env.SWITCHYARD_FILES = "./others";
    await gateway.admin("POST", RELOAD);
    assertEquals((await settingsOf(gateway)).files?.[""], { value: "./others", owner: "environment" });
  });
});
