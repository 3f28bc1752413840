import { assert, assertEquals, assertRejects } from "@std/assert";
import { createAccount } from "../../../src/money/billing/accounts/account.ts";
import { createMeter } from "../../../src/money/billing/meter/create_meter.ts";
import { UsageRollup } from "../../../src/money/billing/usage/usage_rollup.ts";
import { usageCursorKey } from "../../../src/money/billing/usage/usage_records.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { migrateDatabase } from "../../../src/platform/store/postgres/migrate.ts";
import { MIGRATIONS } from "../../../src/platform/store/postgres/migrations.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { createJobRunner, type JobContext } from "../../../src/platform/store/job_runner.ts";
import type { Commit, CommitResult, Job } from "../../../src/platform/store/store.ts";
import { StoreUnusableError } from "../../../src/platform/store/store_unusable_error.ts";
import { unlimitedKey } from "../../support/callers.ts";
import { itemAt } from "../../support/items.ts";
import { ManualClock, until } from "../../support/manual_clock.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";
import { overDatabase, overNodes } from "./nodes.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const LEASE_MS = 30_000;
const HOUR_MS = 3_600_000;

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("postgres nodes: the server is stopped", () => server.stop());
}

function registerTests(server: PostgresServer): void {
  jobTests(server);
  commitTests(server);
  leaseTests(server);
  shareTests(server);
  wakeTests(server);
  schemaTests(server);
}

function jobTests(server: PostgresServer): void {
  overNodes(server, 4, "no job is claimed twice within its lease", async (nodes) => {
    const refs = Array.from({ length: 200 }, (_, n) => String(n).padStart(3, "0"));
    const { store } = itemAt(nodes, 0);
    await store.commit(null, { addJobs: refs.map((ref) => ({ kind: "k", ref, dueAt: storeTimeOf(0) })) });
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, n) => itemAt(nodes, n % 4).store.claim(["k", "other"], 6, LEASE_MS)),
    );
    assertEquals(claims.flat().map(({ ref }) => ref).toSorted(), refs);
    assertEquals(await store.claim(["k"], 100, LEASE_MS), []);
  });

  overNodes(server, 2, "a commit of a job that another node took over changes nothing", async ([a, b]) => {
    assert(a && b);
    await a.store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }] });
    const late = itemAt(await a.store.claim(["k"], 1, LEASE_MS), 0);
    b.clock.advance(LEASE_MS);
    const current = itemAt(await b.store.claim(["k"], 1, LEASE_MS), 0);
    const set = [{ key: ["done"], value: "late" }];
    const fenced = { ok: false, why: "fenced", at: 0 } as const;
    const postponed = [{ job: late, dueAt: storeTimeOf(0), attempt: 0 }];
    assertEquals<CommitResult>(await a.store.commit(null, { completeJobs: [late], set }), fenced);
    assertEquals<CommitResult>(await a.store.commit(null, { postponeJobs: postponed, set }), fenced);
    assertEquals(await a.store.renew([late], LEASE_MS), []);
    assertEquals(await a.store.get([["done"]]), [null]);
    assert((await b.store.commit(null, { completeJobs: [current] })).ok);
  });

  // A second less than promised, for the statements and for a node that is busy.
  overNodes(
    server,
    2,
    "the jobs of a killed node are run by another within eleven seconds of the last renewal, without messages",
    async ([a, b]) => {
      assert(a && b);
      const ran: string[] = [];
      const context = Promise.withResolvers<JobContext>();
      await a.store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }] });
      const killed = createJobRunner({
        ...a,
        log: silentLog,
        handlers: {
          k: (_, own) => (context.resolve(own), new Promise((resolve) => onceAborted(own.signal, resolve))),
        },
      });
      const running = await context.promise;
      a.clock.advance(3_000);
      await until(() => running.renewals === 1);
      // From now on the clock of the first node stands still, so it neither renews the lease nor sends a message.
      const handler = async (job: Job) => {
        const result = await b.store.commit(null, { completeJobs: [job] });
        ran.push(job.ref);
        return result;
      };
      const other = createJobRunner({ ...b, log: silentLog, handlers: { k: handler } });
      for (let second = 1; second <= 3 + 11; second++) {
        b.clock.advance(1_000);
        await b.store.isReady();
        if (second < 3 + 10) assertEquals(ran, [], "the lease lasts ten seconds");
      }
      await until(() => ran.length > 0);
      await other.drain(0);
      await killed.drain(0);
      assertEquals(ran, ["r"]);
    },
  );

  overNodes(server, 2, "due times move once when both nodes see that the clock was set back", async ([a, b]) => {
    assert(a && b);
    const dueAt = a.store.now() + 90_000;
    await a.store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(dueAt) }] });
    for (const { clock } of [a, b]) clock.set(clock.now() - HOUR_MS);
    await Promise.all([a.store.claim(["k"], 1, LEASE_MS), b.store.claim(["k"], 1, LEASE_MS)]);
    assertEquals<(number | null)[]>(await a.store.jobDueTimes("k", ["r"]), [dueAt - HOUR_MS]);
  });

  overDatabase(server, "a wrong clock of a node has no effect", async (url) => {
    const store = await openPostgresStore({ url, clock: new ManualClock(0), log: silentLog });
    try {
      assert(Math.abs(store.now() - Date.now()) < HOUR_MS);
      await store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(Date.now() - 1) }] });
      assertEquals((await store.claim(["k"], 1, LEASE_MS)).length, 1);
    } finally {
      await store.close();
    }
  });
}

function onceAborted(signal: AbortSignal, then: () => void): void {
  signal.addEventListener("abort", then, { once: true });
}

function commitTests(server: PostgresServer): void {
  overNodes(server, 8, "the balance is exact when eight nodes charge one account", async (nodes) => {
    const { store } = itemAt(nodes, 0);
    await store.commit(null, { changeBalances: [{ account: "a", available: 400n, held: 0n }] });
    const results = await Promise.all(Array.from({ length: 640 }, (_, n) => {
      return itemAt(nodes, n % 8).store.commit(`op ${n}`, chargeOf(n));
    }));
    assertEquals(results.filter(({ ok }) => ok).length, 400);
    for (const result of results) if (!result.ok) assertEquals(result, { ok: false, why: "short", at: 0 });
    assertEquals(await store.balance("a"), { available: 0n, held: 0n });
    const entries = await store.ledger("a", { limit: 1_000 });
    assertEquals(entries.length, 400);
    assertEquals(entries.at(-1)?.id, "000000000000400");
  });

  overNodes(server, 2, "of two commits that each need what the other removes, one is made", async ([a, b]) => {
    assert(a && b);
    for (let n = 0; n < 30; n++) {
      const [one, other] = [["pair", n, "one"], ["pair", n, "other"]];
      const made = await Promise.all([
        a.store.commit(null, { check: [{ key: one, version: null }], set: [{ key: other, value: n }] }),
        b.store.commit(null, { check: [{ key: other, version: null }], set: [{ key: one, value: n }] }),
      ]);
      assertEquals(made.filter(({ ok }) => ok).length, 1);
    }
  });

  overNodes(server, 3, "commits over many common keys in any order end without a deadlock", async (nodes) => {
    const keys = Array.from({ length: 300 }, (_, n) => ["many", n]);
    const orders = [keys, keys.toReversed(), keys.slice(0, 20), keys.slice(10, 30).toReversed()];
    const results = await Promise.all(Array.from({ length: 48 }, (_, n) => {
      const set = itemAt(orders, n % orders.length).map((key) => ({ key, value: n }));
      return itemAt(nodes, n % 3).store.commit(null, { set });
    }));
    assert(results.every(({ ok }) => ok));
  });

  overNodes(server, 4, "of one operation on all nodes, one is made", async (nodes) => {
    const commit: Commit = { changeBalances: [{ account: "a", available: 1n, held: 0n }] };
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, n) => itemAt(nodes, n % 4).store.commit("same", commit)),
    );
    assertEquals(results.filter((result) => result.ok && !result.replayed).length, 1);
    assertEquals(await itemAt(nodes, 0).store.balance("a"), { available: 1n, held: 0n });
  });

  overNodes(server, 2, "take() allows the burst once over all nodes", async (nodes) => {
    const limit = { perMs: 1_000, burst: 30, cost: 1 };
    const taken = await Promise.all(
      Array.from({ length: 80 }, (_, n) => itemAt(nodes, n % 2).store.take("b", limit)),
    );
    assertEquals(taken.filter(({ ok }) => ok).length, 30);
  });

  overDatabase(
    server,
    "after a crash of the server nothing acknowledged is lost, and a repeat has one effect",
    async (url) => {
      const open = () => openPostgresStore({ url, clock: systemClock, log: silentLog });
      const stores = [await open(), await open()];
      const acknowledged = new Set<number>();
      let unknown = 0;
      let running = true;
      const writer = async (first: number) => {
        for (let n = first; running; n += 8) {
          while (true) {
            try {
              const result = await itemAt(stores, first % 2).commit(`op ${n}`, creditOf(n));
              assert(result.ok);
              acknowledged.add(n);
              break;
            } catch {
              unknown++;
              await new Promise((resolve) => setTimeout(resolve, 20));
            }
          }
        }
      };
      const writers = Array.from({ length: 8 }, (_, first) => writer(first));
      await until(() => acknowledged.size > 100);
      await server.crash();
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + 100);
      running = false;
      await Promise.all(writers);
      assert(unknown > 0, "the crash was seen");
      const store = itemAt(stores, 0);
      const entries = await store.ledger("a", { limit: 100_000 });
      assertEquals(new Set(entries.map(({ reference }) => Number(reference))), acknowledged);
      assertEquals(entries.length, acknowledged.size);
      assertEquals(await store.balance("a"), { available: BigInt(acknowledged.size), held: 0n });
      assertEquals(await store.isReady(), true);
      for (const each of stores) await each.close();
    },
  );
}

function leaseTests(server: PostgresServer): void {
  overNodes(server, 4, "leases of money together never exceed the credit", async (nodes) => {
    const account = { account: "a", available: 1_000n, held: 0n };
    const overdraft = { account: "a", overdraft: 60n };
    await itemAt(nodes, 0).store.commit(null, { changeBalances: [account], setOverdrafts: [overdraft] });
    const demand = { kept: 0n, wanted: 100n, hasSpare: true };
    const leased = await Promise.all(nodes.map(({ store }) => store.moneyLeases.lease("a", demand)));
    assert(leased.every(({ leased }) => leased > 100n));
    const sum = leased.reduce((sum, { leased }) => sum + leased, 0n);
    assert(sum < 1_060n);
    const { store } = itemAt(nodes, 0);
    const own = itemAt(leased, 0).leased;
    const others = { available: 1_000n, overdraft: 60n, others: sum - own };
    assertEquals(await store.moneyLeases.read("a"), others);
    const tooMuch = { kept: 10n, wanted: 1_051n - (sum - own), hasSpare: true };
    assertEquals(await store.moneyLeases.lease("a", tooMuch), { ...others, leased: 10n });
    const rest = { kept: 10n, wanted: 1_050n - (sum - own), hasSpare: true };
    assertEquals(await store.moneyLeases.lease("a", rest), { ...others, leased: 1_060n - (sum - own) });
    for (const { store } of nodes) await store.moneyLeases.lease("a", { kept: 0n, wanted: 0n, hasSpare: false });
    assertEquals((await store.moneyLeases.read("a")).others, 0n);
  });

  overNodes(
    server,
    2,
    "a lease of money ends after thirty seconds, also for an account without money",
    async ([a, b]) => {
      assert(a && b);
      await a.store.commit(null, { changeBalances: [{ account: "a", available: 10n, held: 0n }] });
      const all = { kept: 0n, wanted: 10n, hasSpare: false };
      assertEquals((await a.store.moneyLeases.lease("a", all)).leased, 10n);
      assertEquals((await b.store.moneyLeases.lease("a", all)).leased, 0n);
      b.clock.advance(29_999);
      assertEquals((await b.store.moneyLeases.lease("a", all)).leased, 0n);
      b.clock.advance(1);
      assertEquals((await b.store.moneyLeases.lease("a", all)).leased, 10n);
      const nothing = { available: 0n, overdraft: 0n, others: 0n };
      assertEquals(await a.store.moneyLeases.lease("none", all), { ...nothing, leased: 0n });
      assertEquals(await a.store.moneyLeases.read("none"), nothing);
    },
  );

  overDatabase(
    server,
    "the credit is spent to the end and no further when four nodes charge one account",
    async (url) => {
      const stores = await Promise.all(
        Array.from({ length: 4 }, () => openPostgresStore({ url, clock: systemClock, log: silentLog })),
      );
      const first = itemAt(stores, 0);
      await first.commit(null, { changeBalances: [{ account: "acme", available: 1_000n, held: 0n }] });
      const meters = stores.map((store) =>
        createMeter({ store, clock: systemClock, log: silentLog, leases: store.moneyLeases })
      );
      let admitted = 0;
      const caller = async (n: number) => {
        const meter = itemAt(meters, n % 4);
        for (let call = 0;; call++) {
          const one = await Promise.resolve().then(() => meter.admit(unlimitedKey("acme"), 7n)).catch((error) => {
            assert(error instanceof GatewayError && error.code === "insufficient_credits", String(error));
            return null;
          });
          if (one === null) return;
          admitted++;
          await one.charge({ ...CHARGE, requestId: `${n}.${call}`, amount: 7n });
        }
      };
      await Promise.all(Array.from({ length: 16 }, (_, n) => caller(n)));
      await Promise.all(meters.map((meter) => meter.flush()));
      const { available } = await first.balance("acme");
      assertEquals(available, 1_000n - BigInt(admitted) * 7n);
      assert(available >= 0n);
      // No lease is left that hides money.
      assertEquals((await first.moneyLeases.read("acme")).others, 0n);
      for (const store of stores) await store.close();
    },
  );
}

function shareTests(server: PostgresServer): void {
  overNodes(server, 2, "each node sums the usage that another one charged", async ([a, b]) => {
    assert(a && b);
    await createAccount(a.store, { id: "acme", balance: 1_000n });
    const rollup = new UsageRollup({
      store: b.store,
      clock: b.clock,
      log: silentLog,
      chargedAccounts: (since) => b.store.chargedAccounts(since),
    });
    await rollup.foldAll();
    const meter = createMeter({ ...a, log: silentLog });
    const counted = async () => (await b.store.get<{ entry: string }>([usageCursorKey("acme")]))[0]?.value.entry;
    for (const requestId of ["r1", "r2"]) {
      const before = await counted();
      await (await meter.admit(unlimitedKey("acme"), 7n)).charge({ ...CHARGE, requestId, amount: 7n });
      await meter.flush();
      await rollup.foldAll();
      const after = await counted();
      assert(after !== undefined && after !== before);
      b.clock.advance(60_000);
      a.clock.advance(60_000);
    }
  });

  const demand = { limit: 100n, refills: true, used: 0n, kept: 0n, wanted: 5n, hasSpare: true };

  overNodes(
    server,
    4,
    "leases of a limit together never exceed it, also when all nodes lease at once",
    async (nodes) => {
      const name = ["rpm", "a", ""];
      const leased = await Promise.all(
        nodes.map(({ store }) => store.shareLeases.lease(name, { ...demand, wanted: 30n })),
      );
      assertEquals(leased.map((one) => one?.leased).toSorted(), [10n, 30n, 30n, 30n]);
      const first = itemAt(nodes, 0).store.shareLeases;
      assertEquals((await first.lease(name, { ...demand, kept: 3n }))?.leased, 3n + 5n);
    },
  );

  overNodes(server, 2, "used units of a limit a minute are regained, and count until then", async ([a, b]) => {
    assert(a && b);
    const name = ["rpm", "a", "k"];
    assertEquals(await a.store.shareLeases.lease(name, demand), { leased: 10n, used: 0, others: 0n });
    assertEquals(await a.store.shareLeases.lease(name, { ...demand, used: 60n, wanted: 0n, hasSpare: false }), {
      leased: 0n,
      used: 60,
      others: 0n,
    });
    assertEquals((await b.store.shareLeases.lease(name, { ...demand, wanted: 50n }))?.leased, 40n);
    b.clock.advance(30_000);
    assertEquals(await b.store.shareLeases.lease(name, { ...demand, wanted: 100n }), {
      leased: 90n,
      used: 10,
      others: 0n,
    });
  });

  overNodes(server, 2, "a lease of a budget is refused when one got smaller after it was read", async ([a, b]) => {
    assert(a && b);
    const name = ["budget", "a", "", "day", 0];
    const budget = { ...demand, refills: false, hasSpare: false };
    const since = await b.store.shareLeases.read(name);
    assertEquals(since.others, 0n);
    assertEquals((await a.store.shareLeases.lease(name, budget))?.leased, 5n);
    assertEquals((await b.store.shareLeases.lease(name, { ...budget, wanted: 96n, since }))?.leased, 95n);
    const late = await b.store.shareLeases.read(name);
    assertEquals(late.others, 5n);
    assertEquals((await a.store.shareLeases.lease(name, { ...budget, wanted: 0n }))?.leased, 0n);
    assertEquals(await b.store.shareLeases.lease(name, { ...budget, since: late }), null);
  });

  overNodes(server, 2, "a lease of a limit ends after thirty seconds", async ([a, b]) => {
    assert(a && b);
    const name = ["concurrency", "a", ""];
    const open = { ...demand, refills: false, wanted: 100n };
    assertEquals((await a.store.shareLeases.lease(name, open))?.leased, 100n);
    b.clock.advance(29_999);
    assertEquals((await b.store.shareLeases.lease(name, open))?.leased, 0n);
    b.clock.advance(1);
    assertEquals((await b.store.shareLeases.lease(name, open))?.leased, 100n);
  });
}

const CHARGE = { keyId: "k", kind: "text", model: "m", provider: "p" } as const;

function wakeTests(server: PostgresServer): void {
  overNodes(server, 2, "a job that one node adds wakes the others", async ([a, b]) => {
    assert(a && b);
    let woken = 0;
    b.store.onWake(() => woken++);
    let n = 0;
    while (woken === 0) { // the first message can be sent before the other node listens
      await a.store.commit(null, { addJobs: [{ kind: "k", ref: String(n++), dueAt: storeTimeOf(0) }] });
      a.clock.advance(50);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  overNodes(server, 2, "a node whose messages are lost finds due jobs within a second", async ([a, b]) => {
    assert(a && b);
    const woken: string[] = [];
    b.store.onWake((kind) => woken.push(kind));
    // The clock of the first node stands still, so it sends no message.
    await a.store.commit(null, {
      addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(0) }, { kind: "l", ref: "r", dueAt: storeTimeOf(0) }],
    });
    assertEquals(woken, []);
    b.clock.advance(1_000);
    await until(() => woken.length === 2);
    assertEquals(woken, ["k", "l"]);
  });

  overNodes(server, 2, "messages arrive again after the connection that listens was cut", async ([a, b], url) => {
    assert(a && b);
    let woken = 0;
    b.store.onWake(() => woken++);
    await withConnection(url, async (sql) => {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen%' and pid <> pg_backend_pid()`;
    });
    let n = 0;
    while (woken === 0) {
      await a.store.commit(null, { addJobs: [{ kind: "k", ref: String(n++), dueAt: storeTimeOf(0) }] });
      a.clock.advance(50);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
}

function schemaTests(server: PostgresServer): void {
  overDatabase(server, "nodes that start together create the tables once", async (url) => {
    const stores = await Promise.all(
      Array.from({ length: 4 }, () => openPostgresStore({ url, clock: systemClock, log: silentLog })),
    );
    assertEquals(await migrateDatabase(url), { from: MIGRATIONS.length, to: MIGRATIONS.length });
    for (const store of stores) await store.close();
  });

  overDatabase(server, "a schema that is newer by one step is used, by two steps refused", async (url) => {
    const open = () => openPostgresStore({ url, clock: systemClock, log: silentLog });
    await migrateDatabase(url, [...MIGRATIONS, "create table switchyard.next (n int)"]);
    await (await open()).close();
    await migrateDatabase(url, [...MIGRATIONS, "", "create table switchyard.later (n int)"]);
    const error = await assertRejects(open, StoreUnusableError, "newer version");
    assert(error.message.includes(`schema ${MIGRATIONS.length + 2}, this one knows ${MIGRATIONS.length}`));
    await assertRejects(() => migrateDatabase(url), StoreUnusableError, "newer version");
  });

  overDatabase(server, "an older schema is refused until it is migrated, and keeps its values", async (url) => {
    const store = await openPostgresStore({ url, clock: systemClock, log: silentLog });
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    await store.close();
    const last = MIGRATIONS.length;
    await withConnection(url, async (sql) => void await sql`delete from switchyard.schema where version = ${last}`);
    await assertRejects(
      () => openPostgresStore({ url, clock: systemClock, log: silentLog }),
      StoreUnusableError,
    );
    await withConnection(url, async (sql) => void await sql`insert into switchyard.schema (version) values (${last})`);
    assertEquals(
      await migrateDatabase(url, [...MIGRATIONS, "alter table switchyard.value add column more int"]),
      { from: MIGRATIONS.length, to: MIGRATIONS.length + 1 },
    );
    const later = await openPostgresStore({ url, clock: systemClock, log: silentLog });
    assertEquals((await later.get([["k"]]))[0]?.value, 1);
    await later.close();
  });

  Deno.test("postgres nodes: an address that cannot be used is refused without its password", async () => {
    const url = server.url("missing").replace("switchyard@", "switchyard:sesame@");
    const error = await assertRejects(
      () => openPostgresStore({ url, clock: systemClock, log: silentLog }),
      StoreUnusableError,
    );
    assertEquals(
      error.message,
      `Cannot use the store at switchyard@127.0.0.1:${server.port}/missing (setting "store"): database "missing" does not ` +
        "exist; create the database, or correct its name",
    );
    assert(!Deno.inspect(error, { depth: 9 }).includes("sesame"));
  });
}

function chargeOf(n: number): Commit {
  return {
    changeBalances: [{ account: "a", available: -1n, held: 0n }],
    ledgerEntries: [{ account: "a", operation: "charge", reference: String(n), available: -1n, held: 0n }],
  };
}

function creditOf(n: number): Commit {
  return {
    changeBalances: [{ account: "a", available: 1n, held: 0n }],
    ledgerEntries: [{ account: "a", operation: "credit", reference: String(n), available: 1n, held: 0n }],
  };
}
