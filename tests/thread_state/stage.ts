import type { MessagePort } from "node:worker_threads";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { lentMeter } from "../../src/money/billing/meter/lent_meter.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import type { LedgerMeter } from "../../src/money/billing/meter/meter.ts";
import { settledStore } from "../../src/money/billing/meter/settled_store.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import type { FromServing, ToServing } from "../../src/threads/serving/messages.ts";
import { readMessages, writeMessages } from "../../src/threads/serving/wire.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import { Journal, type JournalSink } from "../../src/platform/store/journal/journal.ts";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { JournaledCharges } from "../../src/threads/leases/journaled_charges.ts";
import { LeasedMeter } from "../../src/threads/leases/leased_meter.ts";
import { Lessor } from "../../src/threads/leases/lessor.ts";
import { Lessors } from "../../src/threads/leases/lessors.ts";
import { RemoteState } from "../../src/threads/state/remote_state.ts";
import { SharedState } from "../../src/threads/state/shared_state.ts";
import { SharedStoreTime } from "../../src/threads/state/shared_store_time.ts";
import { eventLoopTurn, type ManualClock, manualClock } from "../billing/support.ts";
import { openMemoryStore } from "../support/memory_store.ts";

/** A thread's meter, connected to the main thread by messages as they are sent between real threads. */
export interface TestThread {
  readonly meter: LeasedMeter;
  readonly lessor: Lessor;
  /** The messages to the main thread, by type or by the name of the call. */
  readonly sent: string[];
  /** The texts in its journal, by segment. */
  readonly journal: Map<number, string[]>;
  /** Whether an append to its journal fails. */
  fails: boolean;
  /** Whether the main thread takes writes, as the thread sees it. */
  isWritable: boolean;
  /** Nothing is sent or received any more. */
  isOver: boolean;
}

/** The main thread's meter over a store with the account `acme`, and threads. */
export interface MeterStage {
  readonly clock: ManualClock;
  readonly store: StoreEngine;
  readonly meter: LedgerMeter;
  readonly lessors: Lessors;
  readonly threads: readonly TestThread[];
  /** Lets all messages arrive. */
  settle(): Promise<void>;
}

/** Opens a stage. */
export async function meterStage(
  balance: Money,
  count: number,
  { accountConcurrency }: { readonly accountConcurrency?: () => number } = {},
): Promise<MeterStage> {
  const clock = manualClock();
  const plain = await openMemoryStore({ clock });
  await createAccount(plain, { id: "acme", balance });
  const lessors = new Lessors(clock);
  const own = createMeter({
    store: plain,
    clock,
    log: silentLog,
    ...accountConcurrency && { accountConcurrency },
    readSpent: async (account, keyId, since) => await spentIn(plain, account, keyId, since),
  });
  const meter = lentMeter(own, lessors);
  const store = settledStore(plain, meter);
  const threads = Array.from({ length: count }, () => connect(clock, store, meter, lessors));
  return {
    clock,
    store,
    meter,
    lessors,
    threads,
    async settle() {
      for (let n = 0; n < 20; n++) await eventLoopTurn();
    },
  };
}

async function spentIn(store: StoreEngine, account: string, keyId: string | null, since: number) {
  const { chargeRowsOf } = await import("../../src/money/billing/ledger/charge.ts");
  let charged = 0n;
  for (const entry of await store.ledger(account, { limit: 500 })) {
    for (const row of chargeRowsOf(entry)) {
      if (row.at >= since && (keyId === null || row.keyId === keyId)) charged += row.amount;
    }
  }
  return { charged, held: 0n };
}

function connect(clock: ManualClock, store: StoreEngine, meter: LedgerMeter, lessors: Lessors): TestThread {
  const sent: string[] = [];
  const segments = new Map<number, string[]>();
  const own = { fails: false, isWritable: true, isOver: false };
  const later = (arrive: () => void) => void setTimeout(() => own.isOver || arrive(), 0);

  const toThread = (message: ToServing) => {
    const posted = structuredClone(writeMessages([message]));
    later(() => readMessages<ToServing>(posted).forEach(take));
  };
  const toMain = (message: FromServing) => {
    sent.push(message.type === "call" ? message.what.name : message.type);
    const posted = structuredClone(writeMessages([message]));
    later(() => readMessages<FromServing>(posted).forEach(takeAtMain));
  };

  const lessor = new Lessor({ meter, lessors, clock, post: toThread });
  lessors.add(lessor);
  const shared = new SharedState({
    meter,
    store,
    breaker: createCircuitBreaker({ clock }),
    catalog: createCatalog([]),
    reasoning: new BoundedMemory(clock),
    items: new BoundedMemory(clock),
    clock,
    log: silentLog,
  }, {
    result: toThread,
    overdrawn: (admission) => toThread({ type: "overdrawn", admission }),
    requestOf: () => null,
    onIdle() {},
    lend: (...request) => lessor.lend(...request),
  });
  const takeAtMain = (message: FromServing) => {
    if (message.type === "lease-report") lessor.onReport(message);
    else shared.onMessage(message as Parameters<SharedState["onMessage"]>[0]);
  };

  const remote = new RemoteState({ post: toMain, flush() {}, onWaiting() {} }, {
    results: {} as MessagePort,
    resultFlag: new SharedArrayBuffer(4),
    storeLimits: store.limits,
    storeTime: new SharedStoreTime(store, clock).buffer,
  });
  const sink: JournalSink = {
    append(segment, bytes) {
      if (own.fails) throw new Error("no space");
      segments.getOrInsertComputed(segment, () => []).push(new TextDecoder().decode(bytes).slice(10));
    },
    remove: (segment) => void segments.delete(segment),
    close: () => Promise.resolve(),
  };
  const journal = new Journal({ log: silentLog });
  journal.open(sink, 1);
  const charges: JournaledCharges = new JournaledCharges({
    journal,
    storeLimits: store.limits,
    clock,
    onCharged: (canWait) => leased.onCharged(canWait),
  });
  const leased: LeasedMeter = new LeasedMeter({
    remote: remote.meter,
    charges,
    clock,
    now: () => store.now(),
    log: silentLog,
    isWritable: () => own.isWritable,
    report: toMain,
  });
  remote.onGrant = (grant) => leased.onGrant(grant);
  const take = (message: ToServing) => {
    if (message.type === "result") remote.onResult(message);
    else if (message.type === "overdrawn") remote.onOverdrawn(message.admission);
    else leased.onMessage(message as Parameters<LeasedMeter["onMessage"]>[0]);
  };
  return Object.assign(own, { meter: leased, lessor, sent, journal: segments });
}
