import { assert, assertEquals } from "@std/assert";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { HeldKey } from "../../../src/services/replays/held_key.ts";
import { holdIdempotencyKey, type HoldKeyParts } from "../../../src/services/replays/hold_key.ts";
import { KeyCounts } from "../../../src/services/replays/key_counts.ts";
import { openReplyCipher } from "../../../src/services/replays/reply_secret.ts";
import { readReply, storeReply } from "../../../src/services/replays/stored_reply.ts";
import type { StoreEngine } from "../../../src/platform/store/engine.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { itemAt } from "../../support/items.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";

const LEASE_MS = 30_000;
const HEAD = { status: 200, headers: [["content-type", "text/plain"]] } as const;

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("postgres replays: the server is stopped", () => server.stop());
}

function registerTests(server: PostgresServer): void {
  Deno.test("postgres replays: of requests with one key at several gateways one is carried out, and all read its reply", async () => {
    const clock = new ManualClock();
    const url = server.url("postgres");
    const stores = await Promise.all(
      Array.from({ length: 3 }, () => openPostgresStore({ url, clock, log: silentLog, isEngineClock: true })),
    );
    const caller = { accountId: "demo", keyId: "key_1", idempotencyKey: "k" };
    const gateways = stores.map((store) => partsOver(store, clock, 100));
    const hold = (n: number) => {
      const parts = itemAt(gateways, n % 3);
      return holdIdempotencyKey({ ...caller, requestId: `req_${n}` }, parts).catch(() => null);
    };
    const held = (await Promise.all(Array.from({ length: 30 }, (_, n) => hold(n)))).filter((each) => each !== null);
    assertEquals(held.length, 1);
    const [first] = held;
    assert(first instanceof HeldKey);
    const ciphers = await Promise.all(stores.map(openReplyCipher));
    const body = new Uint8Array(300_000).fill(7);
    const parts = (n: number) => ({ store: itemAt(stores, n), cipher: itemAt(ciphers, n) });
    assert(await first.use("hash", await storeReply("demo", HEAD, [body], parts(0))));
    for (const n of [0, 1, 2]) {
      const used = await hold(n);
      assert(used !== null && !(used instanceof HeldKey) && used.reply !== null);
      const read = await readReply("demo", used.reply, parts(n));
      assertEquals(await new Response(read?.body).bytes(), body);
    }
    await Promise.all(stores.map((store) => store.close()));
  });

  Deno.test("postgres replays: keys that several gateways take at one time use the limit, and do not pass it", async () => {
    const clock = new ManualClock();
    const url = server.url("postgres");
    const stores = await Promise.all(
      Array.from({ length: 2 }, () => openPostgresStore({ url, clock, log: silentLog, isEngineClock: true })),
    );
    const gateways = stores.map((store) => partsOver(store, clock, 60));
    const results = await Promise.allSettled(Array.from({ length: 120 }, (_, n) => {
      const caller = { accountId: "burst", keyId: "key_1", idempotencyKey: `k${n}`, requestId: `req_${n}` };
      return holdIdempotencyKey(caller, itemAt(gateways, n % 2));
    }));
    const held = results.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
    assertEquals(held.length, 60);
    for (const one of held) if (one instanceof HeldKey) await one.free();
    await Promise.all(stores.map((store) => store.close()));
  });
}

/** What a gateway holds keys with. */
function partsOver(store: StoreEngine, clock: ManualClock, accountKeys: number): HoldKeyParts {
  return { store, clock, log: silentLog, counts: new KeyCounts(store), leaseMs: LEASE_MS, accountKeys };
}
