import { assertEquals } from "@std/assert";
import { readinessHandler } from "../../../src/entry/app/routes/readiness.ts";
import type { Inbound } from "../../../src/platform/http/request/inbound.ts";
import { clockDifference } from "../../../src/platform/store/clock_difference.ts";
import type { Log, LogFields } from "../../../src/platform/lib/basics/log.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import type { PostgresStore } from "../../../src/platform/store/postgres/postgres_store.ts";
import { type CutProxy, startCutProxy } from "../../support/cut_proxy.ts";
import { ManualClock, until } from "../../support/manual_clock.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";
import { overDatabase } from "./nodes.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const POLL_MS = 1_000;
const HOUR_MS = 3_600_000;
const START = 1_800_000_000_000;

/** A gateway's store whose answers pass a proxy, on a database whose clock the test moves. */
interface Stage {
  readonly store: PostgresStore;
  readonly proxy: CutProxy;
  /** The clock of the process. */
  readonly clock: ManualClock;
  readonly events: [event: string, fields: LogFields][];
  /** Moves time ahead, for the server and the process. */
  advance(byMs: number): Promise<void>;
  /** Sets the clock of the server alone. */
  setServer(byMs: number): Promise<void>;
  /** Reads the time of the server once, whose answer is kept back for so long. */
  poll(heldMs?: number): Promise<void>;
  /** Opens a further store. */
  reopen(): Promise<PostgresStore>;
  /** The due time of the job, and how often due times were moved. */
  stored(): Promise<{ dueAt: number; epoch: number }>;
}

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("server clock: the server is stopped", () => server.stop());
}

function overClock(server: PostgresServer, promise: string, run: (stage: Stage) => Promise<void>): void {
  overDatabase(server, promise, async (url) => {
    const proxy = startCutProxy(server.port);
    const clock = new ManualClock(START);
    const events: Stage["events"] = [];
    const note = (event: string, fields: LogFields = {}) => void events.push([event, fields]);
    const log: Log = { debug: note, info: note, warn: note, error: note };
    const far = new URL(url);
    far.port = String(proxy.port);
    await (await openPostgresStore({ url, clock, log })).close(); // makes the tables
    await withConnection(url, async (sql) => {
      const sleepless = (text: string) => sql.unsafe(text);
      await sleepless(`create table switchyard.test_time as select ${START}::double precision as at`);
      await sleepless(`create or replace function switchyard.now_ms() returns double precision language sql stable
        as 'select at from switchyard.test_time'`);
      await sleepless("update switchyard.clock set at = 0");
      const move = (byMs: number) => sleepless(`update switchyard.test_time set at = at + ${byMs}`);
      const store = await openPostgresStore({ url: far.href, clock, log });
      const timers = clock.waiting;
      const polled = async (begin: () => Promise<void>) => {
        await begin();
        await until(() => clock.waiting >= timers);
      };
      const advance = async (byMs: number) => {
        await move(byMs);
        clock.advance(byMs);
      };
      try {
        await run({
          store,
          proxy,
          clock,
          events,
          advance,
          setServer: async (byMs) => void await move(byMs),
          poll: (heldMs = 0) =>
            polled(async () => {
              const held = heldMs > 0 ? proxy.hold() : null;
              await advance(POLL_MS);
              await held;
              await move(heldMs);
              clock.stall(heldMs);
              proxy.release();
            }),
          reopen: () => openPostgresStore({ url, clock, log }),
          stored: async () => {
            const [row] = await sleepless(`select epoch::int as epoch, (select due_at from switchyard.job) as "dueAt"
              from switchyard.clock`);
            return { dueAt: storeTimeOf(row?.dueAt), epoch: row?.epoch };
          },
        });
      } finally {
        await store.close();
        await proxy.stop();
      }
    });
  });
}

function registerTests(server: PostgresServer): void {
  overClock(server, "answers that are late move no due time", async ({ store, poll, stored, events }) => {
    await store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(store.now() + HOUR_MS) }] });
    const before = await stored();
    for (let answer = 0; answer < 3; answer++) await poll(3_000);
    await poll();
    await store.claim(["k"], 1, 1_000);
    assertEquals(events.filter(([event]) => event === "clock_set_back"), []);
    assertEquals(await stored(), before);
    assertEquals(store.now(), START + 4 * POLL_MS + 9_000);
  });

  overClock(server, "a clock that was set back moves due times once, also if an answer is late", async (stage) => {
    const { store, poll, setServer, stored, events } = stage;
    await store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(store.now() + HOUR_MS) }] });
    const { dueAt, epoch } = await stored();
    await setServer(-600_000);
    await poll(3_000);
    await poll();
    await poll();
    await store.claim(["k"], 1, 1_000);
    assertEquals(events, [["clock_set_back", { durationMs: 600_000 }]]);
    assertEquals(await stored(), { dueAt: storeTimeOf(dueAt - 600_000), epoch: epoch + 1 });
    assertEquals(store.now(), START - 600_000 + 3 * POLL_MS + 3_000);
  });

  overClock(server, "the time that the next start compares is the server's own", async (stage) => {
    const { store, advance, stored, clock, reopen } = stage;
    const before = (await stored()).epoch;
    await advance(30_000);
    clock.stall(20_000); // the server was stopped with its clock, and the process was not
    await store.commit(null, { addJobs: [{ kind: "k", ref: "r", dueAt: storeTimeOf(store.now() + HOUR_MS) }] });
    await store.close();
    await (await reopen()).close();
    assertEquals((await stored()).epoch, before);
  });

  overClock(
    server,
    "a difference of more than five seconds between database and machine is reported",
    async (stage) => {
      const { store, poll, setServer } = stage;
      const aheadSeconds = async () => {
        const families = await store.metrics();
        return families.find(({ name }) => name === "switchyard_store_clock_ahead_seconds")?.samples[0]?.value;
      };
      assertEquals([await aheadSeconds(), clockDifference(store)], [0, null]);
      await setServer(5_000);
      await poll();
      assertEquals([await aheadSeconds(), clockDifference(store)], [5, null]);
      await setServer(2_000);
      await poll();
      assertEquals(clockDifference(store), "the clock of the database is 7.0 s ahead of that of this machine");
      await setServer(-3_600_000);
      await poll();
      assertEquals(await aheadSeconds(), -3_593);
      assertEquals(clockDifference(store), "the clock of the database is 3593.0 s behind that of this machine");
      const { status, text } = await readyOf(store);
      assertEquals([status, text.split("\n")[1]], [200, `warning: ${clockDifference(store)}`]);
    },
  );
}

/** What `GET /readyz` answers. */
async function readyOf(store: PostgresStore): Promise<{ status: number; text: string }> {
  const handler = readinessHandler({
    isReady: () => Promise.resolve(true),
    reason: () => null,
    clockDifference: () => clockDifference(store),
    providers: [],
    breaker: { health: () => [] },
    filesUsage: () => ({ bytes: 0, quotaBytes: null, state: "ok" }),
    authorize: null,
  });
  const response = await handler({ query: "" } as Inbound);
  return { status: response.status, text: await response.text() };
}
