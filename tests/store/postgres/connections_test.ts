import { assert, assertEquals, assertRejects } from "@std/assert";
import { storeConnections } from "../../../src/entry/app/opening/gateway_roles.ts";
import { openStore } from "../../../src/entry/app/opening/store.ts";
import { readConfig } from "../../../src/config/config.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { connect } from "../../../src/platform/store/postgres/database.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { StoreReadError } from "../../../src/platform/store/store_errors.ts";
import { eventually } from "../../support/account_money.ts";
import { startTestGateway } from "../../support/gateway.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";

/** The roles of the rows of the table in docs/scaling.md, from above. */
const ROWS = [
  { serves: true, works: true },
  { serves: true, works: false },
  { serves: false, works: true },
  null,
] as const;

/** The numbers of each row: for statements, with the lock, that listen, for the log, together. */
async function documentedRows(): Promise<number[][]> {
  const page = await Deno.readTextFile(new URL("../../../docs/scaling.md", import.meta.url));
  const section = page.split("### Connections")[1]?.split("###")[0] ?? "";
  return section.split("\n").filter((line) => line.startsWith("|")).slice(2)
    .map((line) => line.split("|").slice(2, -1).map(Number));
}

Deno.test("connections: the table of docs/scaling.md has the sizes of the pools", async () => {
  const rows = await documentedRows();
  assertEquals(rows.length, ROWS.length);
  for (const [index, roles] of ROWS.entries()) {
    const [statements, lock, listens, log, together] = rows[index]!;
    assertEquals(statements, storeConnections(roles));
    assertEquals(together, statements! + lock! + listens! + log!);
  }
});

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("connections: the server is stopped", () => server.stop());
}

function registerTests(server: PostgresServer): void {
  /** The gateway's connections to the database. */
  async function connectionsTo(database: string): Promise<number> {
    return await withConnection(server.url("postgres"), async (sql) => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
        where datname = ${database} and application_name = 'switchyard'`;
      return row?.count ?? 0;
    });
  }

  for (const [index, roles] of ROWS.entries()) {
    const name = roles === null ? "a command" : JSON.stringify(roles);
    Deno.test(`connections: the store of ${name} opens as many as documented, and no more`, async () => {
      const [statements, lock, listens] = (await documentedRows())[index]!;
      const database = `sized_${index}`;
      await server.run(`create database ${database}`);
      const tree = JSON.stringify({ store: server.url(database) });
      const config = readConfig(tree, "test.json", () => undefined);
      const store = await openStore(config, { clock: systemClock, log: silentLog, ...roles && { roles } });
      try {
        await eventually(async () => {
          await Promise.all(Array.from({ length: 40 }, (_, i) => store.get([["none", i]])));
          return await connectionsTo(database) === statements! + lock! + listens!;
        });
        await Promise.all(Array.from({ length: 200 }, (_, i) => store.get([["none", i]])));
        assertEquals(await connectionsTo(database), statements! + lock! + listens!);
      } finally {
        await store.close();
      }
    });
  }

  Deno.test("connections: a gateway with its log of requests opens no more than documented", async () => {
    await server.run("create database whole");
    const gateway = await startTestGateway({ store: server.url("whole") });
    try {
      const headers = { authorization: `Bearer ${gateway.adminKey}` };
      const reads = Array.from({ length: 16 }, async () => {
        const response = await fetch(`${gateway.address}/admin/v1/requests`, { headers });
        assertEquals(response.status, 200);
        await response.body?.cancel();
      });
      await Promise.all([...reads, ...Array.from({ length: 80 }, (_, i) => gateway.app.store.get([["none", i]]))]);
      const opened = await connectionsTo("whole");
      const [statements, , , , together] = (await documentedRows())[0]!;
      assert(opened > statements! && opened <= together!, String(opened));
    } finally {
      await gateway.stop();
    }
  });

  Deno.test("connections: statements, waits for locks and idle transactions have the documented limits", async () => {
    const url = server.url("postgres");
    const sql = connect({ url, maxConnections: 1, statementTimeoutMs: 5_000 });
    const [limits] = await sql`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('idle_in_transaction_session_timeout') as idle`;
    assertEquals({ ...limits }, { statement: "5s", lock: "4s", idle: "10s" });
    await sql.end();
    const brief = connect({ url, maxConnections: 1, statementTimeoutMs: 50 });
    await assertRejects(async () => void await brief`select pg_sleep(600)`, Error, "statement timeout");
    assertEquals([...await brief`select 1 as one`], [{ one: 1 }]);
    await brief.end();
  });

  Deno.test("connections: a read that waits too long for a lock is refused, and the store works afterwards", async () => {
    await server.run("create database locked");
    const url = server.url("locked");
    const store = await openPostgresStore({ url, clock: systemClock, log: silentLog });
    try {
      await withConnection(url, (sql) =>
        sql.begin(async (transaction) => {
          await transaction`lock table switchyard.value in access exclusive mode`;
          await assertRejects(() => store.get([["any"]]), StoreReadError, "lock timeout");
        }));
      assertEquals(await store.get([["any"]]), [null]);
    } finally {
      await store.close();
    }
  });

  Deno.test("connections: a rate is counted again when its connection is lost, and fails as a read without a server", async () => {
    await server.run("create database rates");
    const url = server.url("rates");
    const store = await openPostgresStore({ url, clock: systemClock, log: silentLog });
    const take = () => store.take("bucket", { perMs: 60_000, burst: 5, cost: 1 });
    try {
      assertEquals((await take()).ok, true);
      const taken = await withConnection(url, (sql) =>
        sql.begin(async (transaction) => {
          await transaction`lock table switchyard.bucket in access exclusive mode`;
          const outcome = take().then(({ ok }) => ok, String);
          await eventually(async () => {
            const ended = await transaction`
              select pg_terminate_backend(pid) from pg_stat_activity
              where datname = 'rates' and wait_event_type = 'Lock'`;
            return ended.length === 1;
          });
          return { outcome };
        }));
      assertEquals(await taken.outcome, true);
      await server.whileDown(() => assertRejects(take, StoreReadError));
      await eventually(async () => (await take().catch(() => null)) !== null);
    } finally {
      await store.close();
    }
  });
}
