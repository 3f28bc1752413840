import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../../src/money/billing/accounts/account.ts";
import { createMeter } from "../../../src/money/billing/meter/create_meter.ts";
import { fixedReservation } from "../../../src/money/billing/meter/meter.ts";
import { UsageRollup } from "../../../src/money/billing/usage/usage_rollup.ts";
import { GatewayError } from "../../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import type { AccessLimits } from "../../../src/money/limits/access_limits.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import type { ShareReading } from "../../../src/platform/store/share_leases.ts";
import { itemAt } from "../../support/items.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";
import { SharedLimits } from "../../support/share_leases.ts";
import { untilSo } from "../../support/patience.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("share leases: the server is stopped", () => server.stop());
}

const NODES = 2;
let databases = 0;

/** How often a store removes what has ended. */
const SWEEP_INTERVAL_MS = 600_000;

/** A clock on which no store removes what has ended. */
class ClockWithoutSweeps extends ManualClock {
  override after(delayMs: number, callback: () => void): () => void {
    return delayMs >= SWEEP_INTERVAL_MS ? () => {} : super.after(delayMs, callback);
  }
}

/** Runs a test with nodes on one empty database and one clock. */
async function overNodes(
  server: PostgresServer,
  run: (
    stores: readonly Awaited<ReturnType<typeof openPostgresStore>>[],
    clock: ManualClock,
    url: string,
  ) => Promise<void>,
  clock = new ManualClock(),
): Promise<void> {
  const name = `shares_${++databases}`;
  await server.run(`create database ${name}`);
  const open = () => openPostgresStore({ url: server.url(name), clock, log: silentLog, isEngineClock: true });
  const stores = [await open(), ...await Promise.all(Array.from({ length: NODES - 1 }, open))];
  try {
    await run(stores, clock, server.url(name));
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await server.run(`drop database ${name} with (force)`);
  }
}

const demands = fc.record({
  limit: fc.bigInt(0n, 100n),
  used: fc.bigInt(0n, 40n),
  kept: fc.bigInt(0n, 30n),
  wanted: fc.bigInt(0n, 60n),
  hasSpare: fc.boolean(),
});
const steps = fc.array(
  fc.record({
    node: fc.nat(NODES - 1),
    demand: demands,
    /** Whether the demand depends on what the node read last. */
    isSince: fc.boolean(),
    reads: fc.boolean(),
    /** Quarters of a minute regain units that a double has exactly. A lease ends after two of them. */
    passMs: fc.constantFrom(0, 0, 15_000, 30_000, 45_000),
  }),
  { maxLength: 25 },
);

function registerTests(server: PostgresServer): void {
  Deno.test("share leases: those of PostgreSQL and those of the tests give the same answers to any demands", async () => {
    await overNodes(server, async (stores, clock) => {
      let walks = 0;
      await fc.assert(
        fc.asyncProperty(steps, fc.boolean(), async (walk, refills) => {
          const name = ["limit", ++walks];
          const model = new SharedLimits(clock);
          const pairs = stores.map(({ shareLeases }, node) => {
            assert(shareLeases !== undefined);
            return {
              real: shareLeases,
              model: model.of(String(node)),
              read: null as [ShareReading, ShareReading] | null,
            };
          });
          for (const { node, demand, isSince, reads, passMs } of walk) {
            clock.advance(passMs);
            const pair = itemAt(pairs, node);
            if (reads) {
              const [real, modelled] = [await pair.real.read(name), await pair.model.read(name)];
              assertEquals(real.others, modelled.others);
              pair.read = [real, modelled];
            }
            const [realSince, modelSince] = isSince && pair.read !== null ? pair.read : [];
            const real = await pair.real.lease(name, { ...demand, refills, ...realSince && { since: realSince } });
            const modelled = await pair.model.lease(name, {
              ...demand,
              refills,
              ...modelSince && { since: modelSince },
            });
            assertEquals([real?.leased, real?.others], [modelled?.leased, modelled?.others]);
            assert(Math.abs((real?.used ?? 0) - (modelled?.used ?? 0)) < 1e-6, `${real?.used} ${modelled?.used}`);
          }
        }),
        { numRuns: 60 },
      );
    }, new ClockWithoutSweeps());
  });

  Deno.test("share leases: one that has ended since it was read, and is swept, counts for a demand since then", async () => {
    await overNodes(server, async (stores, clock, url) => {
      const [one, other] = stores.map(({ shareLeases }) => shareLeases ?? null);
      assert(one && other);
      const demand = { limit: 100n, refills: false, used: 0n, kept: 0n, hasSpare: false };
      await other.lease(["swept"], { ...demand, wanted: 40n });
      const { durationMs } = one;
      clock.advance(SWEEP_INTERVAL_MS - durationMs);
      await other.lease(["limit"], { ...demand, wanted: 40n });
      clock.advance(durationMs - 1);
      const since = await one.read(["limit"]);
      assertEquals(since.others, 40n);
      clock.advance(1);
      await withConnection(url, async (sql) => {
        const left = async () => (await sql`select name from switchyard.share`).length;
        await untilSo(async () => await left() <= 1);
      });
      assertEquals((await one.lease(["limit"], { ...demand, wanted: 100n, since }))?.leased, 60n);
      assertEquals((await one.lease(["limit"], { ...demand, wanted: 100n }))?.leased, 100n);
    });
  });

  for (const budget of [{ amount: 30n, per: "total" }, { amount: 30n, per: "day" }] as const) {
    Deno.test(`share leases: of 200 parallel requests at two nodes on a budget per ${budget.per} for 3, 3 are admitted`, async () => {
      await overNodes(server, async (stores, clock) => {
        await createAccount(itemAt(stores, 0), { id: "acme", balance: 1_000_000n });
        const meters = stores.map((store) => {
          const rollup = new UsageRollup({ store, clock, log: silentLog });
          return createMeter({
            store,
            clock,
            log: silentLog,
            readSpent: rollup.spentSince.bind(rollup),
            leases: store.moneyLeases ?? null,
            shareLeases: store.shareLeases ?? null,
          });
        });
        for (const [key, account] of [[{ budget }, {}], [{}, { budget }]] satisfies [AccessLimits, AccessLimits][]) {
          const keyId = key.budget === undefined ? "key_2" : "key_1";
          const caller = { keyId, accountId: key.budget === undefined ? "acme" : "acme", limits: { key, account } };
          const results = await Promise.all(Array.from({ length: 200 }, async (_, n) => {
            try {
              return await itemAt(meters, n % NODES).admit(caller, fixedReservation(10n));
            } catch (error) {
              assert(error instanceof GatewayError && error.code === "insufficient_credits", String(error));
              return null;
            }
          }));
          const admitted = results.filter((one) => one !== null);
          assertEquals(admitted.length, 3);
          for (const one of admitted) one.release();
        }
        await Promise.all(meters.map((meter) => meter.flush()));
      });
    });
  }
}
