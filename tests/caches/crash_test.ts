import { assert, assertEquals } from "@std/assert";
import { chargeRowsOf } from "../../src/money/billing/ledger/charge.ts";
import type { Admission, Meter } from "../../src/money/billing/meter/meter.ts";
import { addCredit } from "../../src/money/billing/accounts/credit.ts";
import { type Caches, createCaches } from "../../src/services/caches/caches.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import type { FileStore } from "../../src/platform/files/files.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { createStateOwnership } from "../../src/services/ownership/state_ownership.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { JobStore } from "../../src/platform/store/store.ts";
import type { CacheUpstream } from "../../src/vendors/upstreams/contract/cache_upstream.ts";
import type { Provider } from "../../src/vendors/upstreams/contract/provider.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { endpointOf, providerOf } from "../texts/support.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { recordReadBacks } from "../support/read_backs.ts";
import { storeMember } from "../support/store_member.ts";

/** The process has ended: nothing that it does afterwards has any effect. */
class Crash extends Error {}

/** The point where a process ends: before or after its nth durable step. */
interface CrashPoint {
  readonly nth: number;
  readonly when: "before" | "after";
}

/** The state that survives a process: the store, the files, the vendor. */
interface SurvivingState {
  readonly clock: ManualClock;
  readonly store: JobStore;
  readonly files: Map<string, number>;
  /** Marks by name. */
  readonly vendor: Map<string, string>;
}

async function newState(): Promise<SurvivingState> {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await store.commit(null, addCredit({}, { account: "demo", reference: "opening", amount: 10n ** 10n }, clock.now()));
  return { clock, store, files: new Map(), vendor: new Map() };
}

/** Starts caches over this state that count durable steps and end at one of them. */
function startCaches(
  state: SurvivingState,
  kind: "native" | "emulated",
  crash: CrashPoint | null,
): { caches: Caches; steps: () => number } {
  let steps = 0;
  let hasEnded = false;

  async function durableStep<T>(step: () => Promise<T>): Promise<T> {
    if (hasEnded) throw new Crash();
    steps++;
    if (crash?.nth === steps && crash.when === "before") {
      hasEnded = true;
      throw new Crash();
    }
    const result = await step();
    if (crash?.nth === steps) {
      hasEnded = true;
      throw new Crash();
    }
    return result;
  }

  const store: JobStore = new Proxy(state.store, {
    get(target, name: keyof JobStore) {
      if (name === "commit") {
        return (...args: Parameters<JobStore["commit"]>) => durableStep(() => target.commit(...args));
      }
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const files: FileStore = {
    write: (name, source) =>
      durableStep(async () => {
        let bytes = 0;
        for await (const piece of source) bytes += piece.length;
        state.files.set(name, bytes);
        return bytes;
      }),
    find: () => Promise.resolve(null),
    remove: (name) => durableStep(() => Promise.resolve(void state.files.delete(name))),
    removeLeftovers: () => Promise.resolve(),
  };
  const upstream: CacheUpstream = {
    create: ({ mark, expiresAt }) =>
      durableStep(() => {
        const name = `cachedContents/v${state.vendor.size + 1}-${mark}`;
        state.vendor.set(name, mark);
        return Promise.resolve({ name, tokens: 100, expiresAt });
      }),
    extend: (name) => durableStep(() => Promise.resolve(state.vendor.has(name))),
    remove: (name) => durableStep(() => Promise.resolve(void state.vendor.delete(name))),
    find: (mark) => Promise.resolve([...state.vendor].flatMap(([name, own]) => own === mark ? [name] : [])),
  };
  const acme = providerOf("acme", [endpointOf("chat")]);
  const provider: Provider = kind === "native" ? { ...acme, capabilities: { caches: upstream } } : acme;
  const model = readModel({ id: "acme/m", pricing: { prompt: "0.000001" }, serves: [{ provider: "acme" }] });
  const caches = createCaches({
    store,
    vendorState: createStateOwnership({ store, log: silentLog }),
    caps: { count: 1_000, bytes: 1_000_000_000 },
    maxLifeMs: null,
    files,
    log: silentLog,
    providers: new Map([["acme", provider]]),
    breaker: createCircuitBreaker({ clock: state.clock }),
    meter: FREE_METER,
    clock: state.clock,
    modelOf: () => model,
    countHere: () => Promise.resolve(100),
    countAt: () => Promise.resolve({ tokens: 100, countedBy: null }),
    inlined: (conversation) => Promise.resolve(conversation),
    random: () => 0,
  });
  return { caches, steps: () => steps };
}

const ADMITTED: Admission = {
  reserved: { amount: 0n, outputLimit: null },
  charge: () => Promise.resolve(),
  release() {},
  onOverdrawn() {},
};

const FREE_METER: Meter = {
  admit: () => ADMITTED,
  admitFree: () => ADMITTED,
  probe: () => Promise.resolve(ADMITTED.reserved),
  allowance: () => ({ spendable: 0n, budget: null }),
  invalidate() {},
};

const CALL = {
  requestId: "req_1",
  keyId: "key_1",
  accountId: "demo",
  limits: null,
  receivedAt: 0,
  body: { model: "acme/m", contents: [{ parts: [{ text: "The sky is blue" }] }] },
  bytes: new Uint8Array(80),
  headerPin: null,
  callerSignal: () => new AbortController().signal,
  memory: UNLIMITED_MEMORY.lease(),
  record: unobservedRecord(),
};

/** Creates, uses and deletes a cache until the process ends. */
async function createUseAndDelete(caches: Caches): Promise<void> {
  const { cache } = await caches.create(CALL);
  const name = `cachedContents/${cache.id}`;
  const caller = { keyId: "key_1", accountId: "demo", limits: null, requestId: "req_1", receivedAt: 0 };
  await caches.patch({ ...caller, name, body: { ttl: "900s" }, updateMask: null });
  await caches.remove("key_1", name);
}

/** Runs every job that falls due within two hours. */
async function runJobs({ store, clock }: SurvivingState, { handlers }: Caches): Promise<void> {
  const kinds = Object.keys(handlers) as (keyof typeof handlers)[];
  for (let step = 0; step < 7_200 / 30; step++) {
    for (const job of await store.claim(kinds, 10, 10_000)) {
      const controller = new AbortController();
      await handlers[job.kind as keyof typeof handlers](job, { signal: controller.signal, renewals: 0 });
    }
    clock.advance(30_000);
  }
}

async function chargesIn({ store }: SurvivingState): Promise<number> {
  return (await store.ledger("demo", { limit: 100 })).flatMap(chargeRowsOf).length;
}

for (const kind of ["native", "emulated"] as const) {
  Deno.test(`${kind} caches: a crash at any step leaves no charged orphan and, in the end, nothing`, async () => {
    const whole = await newState();
    const process = startCaches(whole, kind, null);
    await createUseAndDelete(process.caches);
    await runJobs(whole, process.caches);
    const steps = process.steps();
    assert(steps >= 7, `a life has ${steps} steps`);
    for (let nth = 1; nth <= steps; nth++) {
      for (const when of ["before", "after"] as const) {
        await crashAndRestart(kind, { nth, when });
      }
    }
  });
}

async function crashAndRestart(kind: "native" | "emulated", crash: CrashPoint): Promise<void> {
  const where = `${when(crash)} of a ${kind} cache`;
  const state = await newState();
  const crashing = startCaches(state, kind, crash);
  try {
    await createUseAndDelete(crashing.caches);
    await runJobs(state, crashing.caches);
  } catch (error) {
    assert(error instanceof Crash, `${where}: ${error}`);
  }
  const { caches } = startCaches(state, kind, null);
  const { caches: listed } = await caches.list("key_1", null, 10);
  const [record] = await state.store.scan<{ state: string }>(["cache", "content"], { limit: 10 });
  const charges = await chargesIn(state);
  // A charged cache reached its owner: it is listed, or it was used and deleted.
  assertEquals(charges, record === undefined ? charges : Number(record.value.state !== "creating"), where);
  assertEquals(listed.length, record?.value.state === "ready" ? 1 : 0, where);
  assertEquals(listed.every(({ tokens }) => tokens === 100), true, where);
  await runJobs(state, caches);
  assertEquals([state.vendor.size, state.files.size], [0, 0], `${where}: nothing is kept`);
  assertEquals(await state.store.scan(["cache"], { limit: 10 }), [], `${where}: no record is left`);
  assertEquals(await chargesIn(state), charges, `${where}: nothing more was charged`);
  const lines = await state.store.ledger("demo", { limit: 100 });
  const sum = lines.reduce((total, { available }) => total + available, 0n);
  assertEquals((await state.store.balance("demo")).available, sum, where);
}

function when({ nth, when }: CrashPoint): string {
  return `a crash ${when} step ${nth}`;
}

Deno.test("a creation whose last commit was made but not answered is usable, and charged once", async () => {
  const state = await newState();
  const { store } = state;
  let commits = 0;
  const answerLosing: JobStore = new Proxy(store, {
    get(target, name: keyof JobStore) {
      if (name !== "commit") return storeMember(target, name);
      return async (...args: Parameters<JobStore["commit"]>) => {
        const result = await target.commit(...args);
        if (++commits === 2) throw new Error("the answer was lost");
        return result;
      };
    },
  });
  const { caches } = startCaches({ ...state, store: answerLosing }, "emulated", null);
  await caches.create(CALL);
  assertEquals([await chargesIn(state), (await caches.list("key_1", null, 10)).caches.length, state.files.size], [
    1,
    1,
    1,
  ]);
});

Deno.test("an unfinished creation cannot be found, by name or in the list", async () => {
  const state = await newState();
  await createUseAndDelete(startCaches(state, "native", { nth: 2, when: "after" }).caches).catch(() => {});
  const { caches } = startCaches(state, "native", null);
  assertEquals(state.vendor.size, 1, "the vendor has it");
  assertEquals((await caches.list("key_1", null, 10)).caches, []);
  const { key } = itemAt(await state.store.scan(["cache", "content"], { limit: 1 }), 0);
  const name = `cachedContents/${key[2]}`;
  const error = await caches.read("key_1", name).then(() => null, (thrown) => thrown);
  assertEquals(error?.code, "not_found");
  await runJobs(state, caches);
  assertEquals(state.vendor.size, 0, "it was found there by its mark");
});

for (const kind of ["native", "emulated"] as const) {
  Deno.test(`the creation of ${kind} caches reads nothing that it has just written`, async () => {
    const state = await newState();
    const { store, readBacks } = recordReadBacks(state.store);
    const { caches } = startCaches({ ...state, store }, kind, null);
    await caches.create(CALL);
    assertEquals(readBacks, []);
  });
}
