import { assert, assertEquals } from "@std/assert";
import { chargeRowsOf } from "../../src/billing/charge.ts";
import type { Meter } from "../../src/billing/meter.ts";
import { addCredit } from "../../src/billing/credit.ts";
import { type Caches, createCaches } from "../../src/caches/caches.ts";
import { readModel } from "../../src/catalog/model.ts";
import type { FileStore } from "../../src/files/files.ts";
import { silentLog } from "../../src/lib/log.ts";
import { createStateOwnership } from "../../src/ownership/state_ownership.ts";
import { createCircuitBreaker } from "../../src/routing/circuit_breaker.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Store } from "../../src/store/store.ts";
import type { CacheUpstream } from "../../src/upstreams/cache_upstream.ts";
import type { Provider } from "../../src/upstreams/provider.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { endpointOf, providerOf } from "../texts/support.ts";
import { UNLIMITED_MEMORY } from "../../src/lib/memory_budget.ts";
import { recordReadBacks } from "../support/read_backs.ts";
import { storeMember } from "../support/store_member.ts";

/** The process ended: nothing that it does from then on has any effect. */
class Crash extends Error {}

/** Where a process is to end: before its nth deed that lasts, or right after it. */
interface CrashPoint {
  readonly nth: number;
  readonly when: "before" | "after";
}

/** What outlives a process: the store, the files, the vendor. */
interface World {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly files: Map<string, number>;
  /** Marks by names. */
  readonly vendor: Map<string, string>;
}

async function newWorld(): Promise<World> {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await store.commit(null, addCredit({}, { account: "demo", reference: "opening", amount: 10n ** 10n }, clock.now()));
  return { clock, store, files: new Map(), vendor: new Map() };
}

/** A process in a world: caches whose lasting deeds are counted, until one of them is the last. */
function startProcess(
  world: World,
  kind: "native" | "emulated",
  crash: CrashPoint | null,
): { caches: Caches; deeds: () => number } {
  let deeds = 0;
  let isDead = false;

  async function lasting<T>(deed: () => Promise<T>): Promise<T> {
    if (isDead) throw new Crash();
    deeds++;
    if (crash?.nth === deeds && crash.when === "before") {
      isDead = true;
      throw new Crash();
    }
    const result = await deed();
    if (crash?.nth === deeds) {
      isDead = true;
      throw new Crash();
    }
    return result;
  }

  const store: Store = new Proxy(world.store, {
    get(target, name: keyof Store) {
      if (name === "commit") return (...args: Parameters<Store["commit"]>) => lasting(() => target.commit(...args));
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const files: FileStore = {
    write: (name, source) =>
      lasting(async () => {
        let bytes = 0;
        for await (const piece of source) bytes += piece.length;
        world.files.set(name, bytes);
        return bytes;
      }),
    find: () => Promise.resolve(null),
    remove: (name) => lasting(() => Promise.resolve(void world.files.delete(name))),
    removeLeftovers: () => Promise.resolve(),
  };
  const upstream: CacheUpstream = {
    create: ({ mark, expiresAt }) =>
      lasting(() => {
        const name = `cachedContents/v${world.vendor.size + 1}-${mark}`;
        world.vendor.set(name, mark);
        return Promise.resolve({ name, tokens: 100, expiresAt });
      }),
    extend: (name) => lasting(() => Promise.resolve(world.vendor.has(name))),
    remove: (name) => lasting(() => Promise.resolve(void world.vendor.delete(name))),
    find: (mark) => Promise.resolve([...world.vendor].flatMap(([name, own]) => own === mark ? [name] : [])),
  };
  const acme = providerOf("acme", [endpointOf("chat")]);
  const provider: Provider = kind === "native" ? { ...acme, caches: upstream } : acme;
  const model = readModel({ id: "acme/m", pricing: { prompt: "0.000001" }, serves: [{ provider: "acme" }] });
  const caches = createCaches({
    store,
    vendorState: createStateOwnership({ store, log: silentLog }),
    caps: { count: 1_000, bytes: 1_000_000_000 },
    maxLifeMs: null,
    files,
    log: silentLog,
    providers: new Map([["acme", provider]]),
    breaker: createCircuitBreaker({ clock: world.clock }),
    meter: FREE_METER,
    clock: world.clock,
    modelOf: () => model,
    countHere: () => Promise.resolve(100),
    countAt: () => Promise.resolve({ tokens: 100, countedBy: null }),
    inlined: (conversation) => Promise.resolve(conversation),
    random: () => 0,
  });
  return { caches, deeds: () => deeds };
}

const FREE_METER: Meter = {
  admit: () => ({
    reserved: { amount: 0n, outputLimit: null },
    charge: () => Promise.resolve(),
    release() {},
    onOverdrawn() {},
  }),
  invalidate() {},
  flush: () => Promise.resolve(),
};

const CALL = {
  requestId: "req_1",
  keyId: "key_1",
  accountId: "demo",
  body: { model: "acme/m", contents: [{ parts: [{ text: "The sky is blue" }] }] },
  bytes: new Uint8Array(80),
  headerPin: null,
  callerSignal: () => new AbortController().signal,
  memory: UNLIMITED_MEMORY.lease(),
};

/** The life of a cache, as far as the process lives. */
async function live(caches: Caches): Promise<void> {
  const { cache } = await caches.create(CALL);
  const name = `cachedContents/${cache.id}`;
  await caches.patch({ keyId: "key_1", name, body: { ttl: "900s" }, updateMask: null });
  await caches.remove("key_1", name);
}

/** Does every job that falls due within two hours. */
async function runJobs({ store, clock }: World, { handlers }: Caches): Promise<void> {
  const kinds = Object.keys(handlers) as (keyof typeof handlers)[];
  for (let step = 0; step < 7_200 / 30; step++) {
    for (const job of await store.claim(kinds, 10, 10_000)) {
      const controller = new AbortController();
      await handlers[job.kind as keyof typeof handlers](job, { signal: controller.signal, renewals: 0 });
    }
    clock.advance(30_000);
  }
}

async function chargesIn({ store }: World): Promise<number> {
  return (await store.ledger("demo", { limit: 100 })).flatMap(chargeRowsOf).length;
}

for (const kind of ["native", "emulated"] as const) {
  Deno.test(`${kind} caches: a crash at any step leaves no charged orphan and, in the end, nothing`, async () => {
    const whole = await newWorld();
    const process = startProcess(whole, kind, null);
    await live(process.caches);
    await runJobs(whole, process.caches);
    const steps = process.deeds();
    assert(steps >= 7, `a life has ${steps} steps`);
    for (let nth = 1; nth <= steps; nth++) {
      for (const when of ["before", "after"] as const) {
        await crashAndRecover(kind, { nth, when });
      }
    }
  });
}

async function crashAndRecover(kind: "native" | "emulated", crash: CrashPoint): Promise<void> {
  const where = `${when(crash)} of a ${kind} cache`;
  const world = await newWorld();
  const doomed = startProcess(world, kind, crash);
  try {
    await live(doomed.caches);
    await runJobs(world, doomed.caches);
  } catch (error) {
    assert(error instanceof Crash, `${where}: ${error}`);
  }
  const { caches } = startProcess(world, kind, null);
  const { caches: listed } = await caches.list("key_1", null, 10);
  const [record] = await world.store.scan<{ state: string }>(["cache", "content"], { limit: 10 });
  const charges = await chargesIn(world);
  // Whatever was charged came into its owner's hands: it is listed, or it lived and was deleted.
  assertEquals(charges, record === undefined ? charges : Number(record.value.state !== "creating"), where);
  assertEquals(listed.length, record?.value.state === "ready" ? 1 : 0, where);
  assertEquals(listed.every(({ tokens }) => tokens === 100), true, where);
  await runJobs(world, caches);
  assertEquals([world.vendor.size, world.files.size], [0, 0], `${where}: nothing is kept`);
  assertEquals(await world.store.scan(["cache"], { limit: 10 }), [], `${where}: no record is left`);
  assertEquals(await chargesIn(world), charges, `${where}: nothing more was charged`);
  const lines = await world.store.ledger("demo", { limit: 100 });
  const sum = lines.reduce((total, { available }) => total + available, 0n);
  assertEquals((await world.store.balance("demo")).available, sum, where);
}

function when({ nth, when }: CrashPoint): string {
  return `a crash ${when} step ${nth}`;
}

Deno.test("a creation whose last commit was made but not answered is usable, and charged once", async () => {
  const world = await newWorld();
  const { store } = world;
  let commits = 0;
  const deaf: Store = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name !== "commit") return storeMember(target, name);
      return async (...args: Parameters<Store["commit"]>) => {
        const result = await target.commit(...args);
        if (++commits === 2) throw new Error("the answer was lost");
        return result;
      };
    },
  });
  const { caches } = startProcess({ ...world, store: deaf }, "emulated", null);
  await caches.create(CALL);
  assertEquals([await chargesIn(world), (await caches.list("key_1", null, 10)).caches.length, world.files.size], [
    1,
    1,
    1,
  ]);
});

Deno.test("an unfinished creation cannot be found, by name or in the list", async () => {
  const world = await newWorld();
  await live(startProcess(world, "native", { nth: 2, when: "after" }).caches).catch(() => {});
  const { caches } = startProcess(world, "native", null);
  assertEquals(world.vendor.size, 1, "the vendor has it");
  assertEquals((await caches.list("key_1", null, 10)).caches, []);
  const { key } = itemAt(await world.store.scan(["cache", "content"], { limit: 1 }), 0);
  const name = `cachedContents/${key[2]}`;
  const error = await caches.read("key_1", name).then(() => null, (thrown) => thrown);
  assertEquals(error?.code, "not_found");
  await runJobs(world, caches);
  assertEquals(world.vendor.size, 0, "it was found there by its mark");
});

for (const kind of ["native", "emulated"] as const) {
  Deno.test(`the creation of ${kind} caches reads nothing that it has just written`, async () => {
    const world = await newWorld();
    const { store, readBacks } = recordReadBacks(world.store);
    const { caches } = startProcess({ ...world, store }, kind, null);
    await caches.create(CALL);
    assertEquals(readBacks, []);
  });
}
