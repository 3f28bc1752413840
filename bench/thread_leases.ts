/**
 * What it would cost if threads leased money and limits from each other with the code of gateways on one database,
 * beside the leases that threads have. Two threads admit and charge requests of one key. Both sides run in one thread,
 * so the processor time is that of the code; messages are counted, and their price is that of `message_cost.ts`.
 *
 *     deno run -A bench/thread_leases.ts
 */
import { cpuUsage } from "node:process";
import { createAccount } from "../src/money/billing/accounts/account.ts";
import { createMeter } from "../src/money/billing/meter/create_meter.ts";
import { lentMeter } from "../src/money/billing/meter/lent_meter.ts";
import { type Admission, fixedReservation, type Meter, ruleOf } from "../src/money/billing/meter/meter.ts";
import type { LimitedCaller } from "../src/money/limits/limited_caller.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import type { Money } from "../src/platform/lib/basics/money.ts";
import { Journal, NO_SINK } from "../src/platform/store/journal/journal.ts";
import { JournaledCharges } from "../src/threads/leases/journaled_charges.ts";
import { LeasedMeter } from "../src/threads/leases/leased_meter.ts";
import { Lessor } from "../src/threads/leases/lessor.ts";
import { Lessors } from "../src/threads/leases/lessors.ts";
import { limitsIdOf } from "../src/threads/state/limits_id.ts";
import { ManualClock } from "../tests/support/manual_clock.ts";
import { openMemoryStore } from "../tests/support/memory_store.ts";
import { leasesOver } from "../tests/support/money_leases.ts";
import { SharedLimits } from "../tests/support/share_leases.ts";
import { measureRoundTrips } from "./message_cost.ts";

/** A key, its account's balance, and its requests. */
interface Case {
  readonly name: string;
  readonly caller: LimitedCaller;
  readonly balance: Money;
  /** The requests that each thread has open. */
  readonly open: number;
  readonly requests: number;
}

/** Two threads, and the messages that they have sent or received. */
interface Threads {
  readonly clock: ManualClock;
  readonly meters: readonly Meter[];
  readonly messages: () => number;
}

const RESERVED: Money = 1_000n;
const TOKENS = 500;
/** The requests of both threads together within a millisecond of the clock that reports follow: 10,000 a second. */
const REQUESTS_PER_MS = 10;
const TURN_REQUESTS = 100;
const WARMING_REQUESTS = 20_000;
const ROUNDS = 5;
const ROUND_TRIP_MS = 4_000;

function callerOf(limits: LimitedCaller["limits"]): LimitedCaller {
  return { keyId: "key_1", accountId: "acme", limits };
}

const ALL_LIMITS = { rpm: 100_000_000, tpm: 1_000_000_000, concurrency: 100_000 };
const BUDGET = { amount: 10n ** 15n, per: "month" } as const;

const CASES: readonly Case[] = [
  { name: "no limits", caller: callerOf(null), balance: 10n ** 15n, open: 16, requests: 100_000 },
  {
    name: "requests, tokens, open requests and a budget of the key, all far",
    caller: callerOf({ key: { ...ALL_LIMITS, budget: BUDGET }, account: {} }),
    balance: 10n ** 15n,
    open: 16,
    requests: 100_000,
  },
  {
    name: "the same limits of key and account",
    caller: callerOf({ key: { ...ALL_LIMITS, budget: BUDGET }, account: { ...ALL_LIMITS, budget: BUDGET } }),
    balance: 10n ** 15n,
    open: 16,
    requests: 100_000,
  },
  {
    name: "eight open requests of the key, three in each thread",
    caller: callerOf({ key: { concurrency: 8 }, account: {} }),
    balance: 10n ** 15n,
    open: 3,
    requests: 10_000,
  },
  {
    name: "six open requests of the key, two in each thread: fewer than four for each thread are a small limit",
    caller: callerOf({ key: { concurrency: 6 }, account: {} }),
    balance: 10n ** 15n,
    open: 2,
    requests: 10_000,
  },
  {
    name: "a balance for 20 requests, three open in each thread",
    caller: callerOf(null),
    balance: 20n * RESERVED,
    open: 3,
    requests: 10_000,
  },
];

async function storeWith(balance: Money, clock: ManualClock) {
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "acme", balance });
  return store;
}

const readSpent = () => Promise.resolve({ charged: 0n, held: 0n });

function openJournal(): Journal {
  const journal = new Journal({ log: silentLog });
  journal.open(NO_SINK, 1);
  return journal;
}

/** The leases of threads: shares of all limits of a key in one message. */
async function leasesOfThreads(balance: Money): Promise<Threads> {
  const clock = new ManualClock();
  const store = await storeWith(balance, clock);
  let messages = 0;
  const lessors = new Lessors(clock);
  const main = lentMeter(createMeter({ store, clock, log: silentLog, readSpent, journal: openJournal() }), lessors);
  const meters = [1, 2].map(() => {
    const lessor: Lessor = new Lessor({
      meter: main,
      clock,
      lessors,
      post(message) {
        messages++;
        thread.onMessage(message);
      },
    });
    lessors.add(lessor);
    const remote: Meter = {
      ...main,
      async admit(caller, reservation) {
        messages += 2;
        const rule = ruleOf(reservation);
        const admission = await main.admit(caller, rule);
        const grant = lessor.lend(caller, limitsIdOf(caller.limits), admission.reserved);
        if (grant !== null) thread.onGrant(grant);
        return { ...admissionOf(admission), charge: (charge) => (messages += 2, admission.charge(charge)) };
      },
    };
    const charges: JournaledCharges = new JournaledCharges({
      journal: openJournal(),
      storeLimits: store.limits,
      clock,
      onCharged: (canWait) => thread.onCharged(canWait),
    });
    const thread: LeasedMeter = new LeasedMeter({
      remote,
      charges,
      clock,
      now: () => store.now(),
      log: silentLog,
      isWritable: () => true,
      report(report) {
        messages++;
        lessor.onReport(report);
      },
    });
    return thread;
  });
  return { clock, meters, messages: () => messages };
}

function admissionOf(admission: Admission): Admission {
  return {
    reserved: admission.reserved,
    charge: (charge) => admission.charge(charge),
    release: (tokens) => admission.release(tokens),
    onOverdrawn: (listener) => admission.onOverdrawn(listener),
  };
}

/** The leases of gateways: a share of each limit by itself. The threads' charges would still be sent as today. */
async function leasesOfGateways(balance: Money): Promise<Threads> {
  const clock = new ManualClock();
  const store = await storeWith(balance, clock);
  const limits = new SharedLimits(clock);
  const money = leasesOver(store, clock);
  let demands = 0;
  money.before.wait = () => Promise.resolve(void demands++);
  const meters = ["1", "2"].map((thread) =>
    createMeter({
      store,
      clock,
      log: silentLog,
      readSpent,
      journal: openJournal(),
      leases: money.of(thread),
      shareLeases: limits.of(thread),
      gateways: () => 2,
    })
  );
  return { clock, meters, messages: () => 2 * (demands + limits.demands) };
}

async function run({ clock, meters }: Threads, { caller, open, balance }: Case, requests: number): Promise<number> {
  const rule = fixedReservation(RESERVED, TOKENS);
  // A balance that is nearly used up stays so.
  const amount = balance > 10n ** 12n ? RESERVED / 2n : 0n;
  const admitted = meters.map((): Admission[] => []);
  let refused = 0;
  for (let request = 0; request < requests; request++) {
    const thread = request % meters.length;
    const [meter, own] = [meters[thread], admitted[thread]];
    if (meter === undefined || own === undefined) continue;
    if (own.length === open) {
      const charged = own.shift()?.charge({
        requestId: "req_0123456789abcdef",
        keyId: caller.keyId,
        kind: "text",
        model: "acme/model",
        provider: "acme",
        amount,
        usage: { freshTokens: TOKENS },
      });
      if (charged) await charged;
    }
    try {
      const admission = meter.admit(caller, rule);
      own.push(admission instanceof Promise ? await admission : admission);
    } catch {
      refused++;
    }
    if (request % TURN_REQUESTS !== 0) continue;
    clock.advance(TURN_REQUESTS / REQUESTS_PER_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const own of admitted) for (const admission of own) admission.release();
  return refused;
}

interface Measured {
  readonly cpuUs: number;
  readonly messages: number;
  readonly refused: number;
}

async function measure(open: (balance: Money) => Promise<Threads>, each: Case): Promise<Measured> {
  const threads = await open(each.balance);
  await run(threads, each, Math.min(WARMING_REQUESTS, each.requests));
  const [sent, before] = [threads.messages(), cpuUsage()];
  const refused = await run(threads, each, each.requests);
  const { user, system } = cpuUsage(before);
  return {
    cpuUs: (user + system) / each.requests,
    messages: (threads.messages() - sent) / each.requests,
    refused,
  };
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

const trips = await measureRoundTrips(ROUND_TRIP_MS);
for (const { messages, cpuUs } of trips) console.log(`round trip of ${messages} messages: ${cpuUs.toFixed(1)} µs`);
for (const each of CASES) {
  console.log(`\n${each.name}`);
  const rounds: { threads: Measured; gateways: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ threads: await measure(leasesOfThreads, each), gateways: await measure(leasesOfGateways, each) });
  }
  for (const side of ["threads", "gateways"] as const) {
    const of = (value: (measured: Measured) => number) => medianOf(rounds.map((round) => value(round[side])));
    console.log(
      `  as ${side.padEnd(8)} ${of(({ cpuUs }) => cpuUs).toFixed(2)} µs, ` +
        `${of(({ messages }) => messages).toFixed(3)} messages a request, ${of(({ refused }) => refused)} refused`,
    );
  }
  const added = medianOf(rounds.map(({ threads, gateways }) => gateways.cpuUs - threads.cpuUs));
  console.log(`  added by the code of gateways: ${added.toFixed(2)} µs without messages`);
}
