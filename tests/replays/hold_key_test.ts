import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { HeldKey } from "../../src/services/replays/held_key.ts";
import { holdIdempotencyKey, type HoldKeyParts } from "../../src/services/replays/hold_key.ts";
import { KeyCounts } from "../../src/services/replays/key_counts.ts";
import type { UsedKey } from "../../src/services/replays/records.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { itemAt } from "../support/items.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const LEASE_MS = 30_000;
const DAY_MS = 86_400_000;

/** The keys of one process over a store. */
function partsOver(store: Pick<Store, "get" | "scan" | "commit" | "now">, clock: ManualClock) {
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const log = { debug: note, info: note, warn: note, error: note };
  const parts: HoldKeyParts = {
    store,
    clock,
    log,
    counts: new KeyCounts(store),
    leaseMs: LEASE_MS,
    accountKeys: 100,
  };
  return { ...parts, logged };
}

let requests = 0;
const callerOf = (idempotencyKey = "key", accountId = "demo") => ({
  accountId,
  keyId: "key_1",
  idempotencyKey,
  requestId: `req_${requests++}`,
});

function heldOf(held: HeldKey | UsedKey): HeldKey {
  assert(held instanceof HeldKey);
  return held;
}

function usedOf(held: HeldKey | UsedKey): UsedKey {
  assert(!(held instanceof HeldKey));
  return held;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return (await assertRejects(() => work, GatewayError)).code;
}

/** Lets the store answer what was sent before. */
const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
};

Deno.test("a key is held by one request of all processes, then used", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const [one, other] = [partsOver(store, clock), partsOver(store, clock)];
  const caller = callerOf();
  const held = heldOf(await holdIdempotencyKey(caller, one));
  for (const parts of [one, other]) assertEquals(await codeOf(holdIdempotencyKey(callerOf(), parts)), "conflict");
  heldOf(await holdIdempotencyKey(callerOf("another"), other));
  heldOf(await holdIdempotencyKey({ ...callerOf(), keyId: "key_2" }, other));
  heldOf(await holdIdempotencyKey(callerOf("key", "acme"), other));
  assert(await held.use("hash", { id: "a", parts: 2 }));
  const { requestId, fingerprint, reply } = usedOf(await holdIdempotencyKey(callerOf(), other));
  assertEquals([requestId, fingerprint, reply], [caller.requestId, "hash", { id: "a", parts: 2 }]);
});

Deno.test("a key is freed by an uncharged failure, and by the end of its day", async () => {
  const clock = new ManualClock();
  const parts = partsOver(await openMemoryStore({ clock }), clock);
  assert(await heldOf(await holdIdempotencyKey(callerOf(), parts)).free());
  const held = heldOf(await holdIdempotencyKey(callerOf(), parts));
  assertEquals(held.interrupted, []);
  assert(await held.use("hash", null));
  clock.stall(DAY_MS - 1);
  usedOf(await holdIdempotencyKey(callerOf(), parts));
  clock.stall(1);
  heldOf(await holdIdempotencyKey(callerOf(), parts));
});

Deno.test("a key stays held while its request runs, however long that takes", async () => {
  const clock = new ManualClock();
  const parts = partsOver(await openMemoryStore({ clock }), clock);
  const held = heldOf(await holdIdempotencyKey(callerOf(), parts));
  for (let elapsed = 0; elapsed < 20 * LEASE_MS; elapsed += LEASE_MS / 3) {
    clock.advance(LEASE_MS / 3);
    await settled();
    assertEquals(await codeOf(holdIdempotencyKey(callerOf(), parts)), "conflict");
  }
  assert(await held.use("hash", null));
  assertEquals(clock.waiting, 0);
});

Deno.test("the key of a process that ended is free after its lease, and names the interrupted requests", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const interrupted: string[] = [];
  for (let kill = 0; kill < 12; kill++) {
    const caller = callerOf();
    // The clock of a process that was killed runs no timers.
    const held = heldOf(await holdIdempotencyKey(caller, partsOver(store, new ManualClock())));
    assertEquals(held.interrupted, interrupted.slice(-10));
    interrupted.push(caller.requestId);
    clock.stall(LEASE_MS - 1);
    assertEquals(await codeOf(holdIdempotencyKey(callerOf(), partsOver(store, clock))), "conflict");
    clock.stall(1);
  }
  const parts = partsOver(store, clock);
  const freed = heldOf(await holdIdempotencyKey(callerOf(), parts));
  assertEquals(parts.logged, ["idempotency_key_taken_over"]);
  assert(await freed.free());
  // A failure without a charge forgets none of them.
  const last = heldOf(await holdIdempotencyKey(callerOf(), parts));
  assertEquals(last.interrupted, interrupted.slice(-10));
  assert(await last.use("hash", null));
});

Deno.test("a request whose key was taken over does not change it any more", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const late = partsOver(store, new ManualClock());
  const first = heldOf(await holdIdempotencyKey(callerOf(), late));
  clock.stall(LEASE_MS);
  const caller = callerOf();
  const second = heldOf(await holdIdempotencyKey(caller, partsOver(store, clock)));
  assertEquals(await first.use("hash", { id: "late", parts: 1 }), false);
  assertEquals(late.logged, ["idempotency_key_lost"]);
  assert(await second.use("hash", { id: "second", parts: 1 }));
  assertEquals(usedOf(await holdIdempotencyKey(callerOf(), late)).requestId, caller.requestId);
});

Deno.test("a store that takes no writes leaves the key to its lease, and ends no request", async () => {
  const clock = new ManualClock();
  const memory = await openMemoryStore({ clock });
  let isFull = false;
  const store = {
    get: memory.get.bind(memory),
    scan: memory.scan.bind(memory),
    now: () => memory.now(),
    commit: (...args: Parameters<Store["commit"]>) =>
      isFull ? Promise.reject(new Error("the disk is full")) : memory.commit(...args),
  };
  const parts = partsOver(store, clock);
  const held = heldOf(await holdIdempotencyKey(callerOf(), parts));
  isFull = true;
  clock.advance(LEASE_MS / 3);
  await settled();
  assertEquals(await held.use("hash", null), false);
  assertEquals(parts.logged, ["idempotency_key_not_written"]);
  await assertRejects(() => holdIdempotencyKey(callerOf("new"), parts), Error, "full");
  isFull = false;
  assertEquals(await codeOf(holdIdempotencyKey(callerOf(), parts)), "conflict");
  clock.stall(LEASE_MS);
  assertEquals(heldOf(await holdIdempotencyKey(callerOf(), parts)).interrupted.length, 1);
});

Deno.test("an account has a limit of keys within 24 hours, in all processes", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const processes = Array.from({ length: 3 }, () => ({ ...partsOver(store, clock), accountKeys: 10 }));
  for (let n = 0; n < 10; n++) {
    clock.stall(3_600_000);
    await heldOf(await holdIdempotencyKey(callerOf(`key-${n}`), processes[n % 3]!)).use("hash", null);
  }
  for (const parts of processes) {
    assertEquals(await codeOf(holdIdempotencyKey(callerOf("eleventh"), parts)), "rate_limited");
    usedOf(await holdIdempotencyKey(callerOf("key-3"), parts));
    heldOf(await holdIdempotencyKey(callerOf(`own-${requests}`, "acme"), parts));
  }
  clock.stall(16 * 3_600_000);
  heldOf(await holdIdempotencyKey(callerOf("eleventh"), processes[0]!));
});

Deno.test("keys that are taken at one time do not pass the limit together, and a failed one gives its place back", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  let isFull = false;
  const filling = {
    get: store.get.bind(store),
    scan: store.scan.bind(store),
    commit: (...args: Parameters<Store["commit"]>) =>
      isFull ? Promise.reject(new Error("full")) : store.commit(...args),
    now: () => store.now(),
  };
  const parts = { ...partsOver(filling, clock), accountKeys: 60 };
  const burst = () =>
    Promise.allSettled(Array.from({ length: 120 }, () => holdIdempotencyKey(callerOf(`k${requests}`), parts)));
  isFull = true;
  assertEquals((await burst()).filter(({ status }) => status === "fulfilled"), []);
  isFull = false;
  const results = await burst();
  const held = results.flatMap((one) => one.status === "fulfilled" ? [heldOf(one.value)] : []);
  assertEquals(held.length, 60);
  await itemAt(held, 0).free();
  assertEquals((await burst()).filter(({ status }) => status === "fulfilled").length, 1);
});

Deno.test("keys that several processes take at one time use the limit, and do not pass it", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const processes = Array.from({ length: 3 }, () => ({ ...partsOver(store, clock), accountKeys: 60 }));
  const burst = () =>
    Promise.allSettled(
      Array.from({ length: 120 }, (_, n) => holdIdempotencyKey(callerOf(`k${requests}`), itemAt(processes, n % 3))),
    );
  const held = (await burst()).flatMap((one) => one.status === "fulfilled" ? [heldOf(one.value)] : []);
  assertEquals(held.length, 60);
  for (const one of held.slice(0, 20)) await one.free();
  assertEquals((await burst()).filter(({ status }) => status === "fulfilled").length, 20);
});

Deno.test("a key that was given back counts again when it is taken over, and one of a process that ended counts once", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const parts = { ...partsOver(store, clock), accountKeys: 2 };
  await holdIdempotencyKey(callerOf("crashed"), partsOver(store, clock)); // its process renews no lease
  clock.stall(LEASE_MS);
  const taken = heldOf(await holdIdempotencyKey(callerOf("crashed"), parts));
  await taken.free();
  heldOf(await holdIdempotencyKey(callerOf("crashed"), parts));
  heldOf(await holdIdempotencyKey(callerOf("second"), parts));
  assertEquals(await codeOf(holdIdempotencyKey(callerOf("third"), parts)), "rate_limited");
});

Deno.test("of requests that race for keys in several processes, one of each key is carried out", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(2), fc.nat(2)), { maxLength: 40 }), async (order) => {
      const clock = new ManualClock();
      const store = await openMemoryStore({ clock });
      const processes = Array.from({ length: 3 }, () => partsOver(store, clock));
      const carriedOut: number[] = [];
      await Promise.all(order.map(async ([at, key]) => {
        const held = await holdIdempotencyKey(callerOf(`key-${key}`), processes[at]!).catch(() => null);
        if (!(held instanceof HeldKey)) return;
        carriedOut.push(key);
        await settled();
        await held.use("hash", null);
      }));
      const keys = new Set(order.map(([, key]) => key));
      assertEquals(carriedOut.toSorted(), [...keys].toSorted());
    }),
    { numRuns: 30 },
  );
});
