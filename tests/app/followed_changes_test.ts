import { assertEquals } from "@std/assert";
import { followChanges } from "../../src/entry/app/gateway/followed_changes.ts";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { beginErasure, endErasure } from "../../src/money/billing/accounts/erase_account.ts";
import { ConfigError } from "../../src/config/tree/config_error.ts";
import { addStoredVersion } from "../../src/config/diff/stored_config.ts";
import type { Log } from "../../src/platform/lib/basics/log.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { openSigningKeys, rotateSigningKeys } from "../../src/services/videos/results/signing_keys.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const NO_CHANGE = { added: {}, changed: {}, removed: {}, restart: [] };

/** Stores a version of the settings, as another gateway does. */
async function storeVersion(store: Store, version: number): Promise<void> {
  assertEquals(await addStoredVersion(store, { version, at: 0, by: "ops", diff: NO_CHANGE, content: {} }), true);
}

/** A gateway that follows, whose configuration counts its changes. */
async function startFollower(follow: () => Promise<void>) {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const warned: string[] = [];
  const note = () => {};
  const log: Log = { debug: note, info: note, warn: (event) => void warned.push(event), error: note };
  const signingKeys = await openSigningKeys(store);
  const configChanges = () => Promise.resolve({ version: 0, follow });
  const forgotten: string[] = [];
  const forgetReplies = (account: string) => void forgotten.push(account);
  const followPrices = () => Promise.resolve();
  const runner = followChanges({ store, clock, log, signingKeys, forgetReplies, followPrices, configChanges });
  /** Passes an interval, and waits until what is read in it is read. */
  async function passInterval(): Promise<void> {
    const { waiting } = clock;
    clock.advance(2_000);
    await until(() => clock.waiting === waiting);
  }
  return { store, signingKeys, runner, warned, forgotten, passInterval };
}

Deno.test("followChanges() takes over the signing keys that another gateway rotated, in the same list", async () => {
  const { store, signingKeys, runner, passInterval } = await startFollower(() => Promise.resolve());
  const { keys } = signingKeys;
  const rotated = await rotateSigningKeys(store);
  await passInterval();
  assertEquals(keys.map(({ id }) => id), rotated.map(({ id }) => id));
  await runner.drain(0);
});

Deno.test("followChanges() puts stored settings in force, and tries a version that does not fit once", async () => {
  let tried = 0;
  const { store, runner, warned, passInterval } = await startFollower(() => {
    tried++;
    return Promise.reject(new ConfigError(["models[0]: unknown"]));
  });
  await passInterval();
  assertEquals(tried, 0);
  await storeVersion(store, 1);
  await passInterval();
  await passInterval();
  assertEquals(tried, 1);
  await storeVersion(store, 2);
  await passInterval();
  assertEquals([tried, warned], [2, []]);
  await runner.drain(0);
});

Deno.test("followChanges() forgets the replies of an account that another gateway erased, once", async () => {
  const { store, runner, forgotten, passInterval } = await startFollower(() => Promise.resolve());
  await createAccount(store, { id: "acme" });
  await passInterval();
  assertEquals(forgotten, []);
  await beginErasure(store, "acme");
  await endErasure(store, "acme");
  await passInterval();
  await passInterval();
  assertEquals(forgotten, ["acme"]);
  await runner.drain(0);
});

Deno.test("followChanges() reads again after a failure, which it logs", async () => {
  let tried = 0;
  const { store, runner, warned, passInterval } = await startFollower(() => {
    tried++;
    return tried === 1 ? Promise.reject(new Error("the store is away")) : Promise.resolve();
  });
  await storeVersion(store, 1);
  await passInterval();
  await passInterval();
  assertEquals([tried, warned], [2, ["changes_not_read"]]);
  await runner.drain(0);
});
