import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { jsonLog } from "../../../src/platform/lib/basics/log.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { StoreUnusableError } from "../../../src/platform/store/store_unusable_error.ts";
import { eventually } from "../../support/account_money.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";

/** The lock of a migration in `src/platform/store/postgres/migrate.ts`. */
const MIGRATION_LOCK = 1_937_205_601;
/** The lock of work that one process does at a time, in `src/platform/store/postgres/database_lock.ts`. */
const TURN_LOCK = 1_937_205_605;

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("start waits: the server is stopped", () => server.stop());
}

/** Opens a store, with the reasons of its lines. The waits are longer than a busy machine needs. */
function start(url: string, statementMs = 100_000) {
  const lines: { readonly event: string; readonly reason: string }[] = [];
  const log = jsonLog("debug", (line) => void lines.push(JSON.parse(line)));
  const patience = { statementMs, connectMs: 2_000, lockMs: 100_000, ledgerMs: 2_000 };
  const store = openPostgresStore({ url, clock: systemClock, log, lock: "shared", patience });
  return { store, reasons: () => lines.filter(({ event }) => event === "store_waits").map(({ reason }) => reason) };
}

function registerTests(server: PostgresServer): void {
  const place = `127\\.0\\.0\\.1:${server.port}/`;

  Deno.test("start waits: for another process that creates the tables, which is named with the time limit", async () => {
    await server.run("create database migrated");
    await withConnection(server.url("migrated"), async (sql) => {
      await sql`set application_name = 'switchyard store migrate'`;
      const [own] = await sql`select pg_advisory_lock(${MIGRATION_LOCK}), pg_backend_pid() as pid`;
      const { store, reasons } = start(server.url("migrated"));
      await eventually(() => reasons().length > 0);
      await sql`select pg_advisory_unlock(${MIGRATION_LOCK})`;
      await (await store).close();
      const thing = "the start waits for its tables, which another process creates, changes or has locked";
      const holder = `process ${own?.pid} \\(switchyard store migrate from 127\\.0\\.0\\.1\\) of the server has it`;
      assertEquals(reasons().length, 1);
      assertMatch(itemAt(reasons(), 0), new RegExp(`${place}migrated: ${thing}, for at most 80 s; ${holder}$`));
    });
  });

  Deno.test("start waits: for a lock on a table, until the time limit ends it", async () => {
    await server.run("create database locked");
    await (await start(server.url("locked")).store).close();
    await withConnection(server.url("locked"), (sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table switchyard.schema in access exclusive mode`;
        const { store, reasons } = start(server.url("locked"), 10_000);
        const refused = await assertRejects(() => store, StoreUnusableError);
        assertMatch(refused.message, /lock timeout/);
        assertMatch(itemAt(reasons(), 0), /for at most 8 s; process \d+/);
      }));
  });

  Deno.test("start waits: for a gateway that writes its accounts and keys, without a limit", async () => {
    await server.run("create database turns");
    const { store, reasons } = start(server.url("turns"));
    const opened = await store;
    await withConnection(server.url("turns"), async (sql) => {
      await sql`select pg_advisory_lock(${TURN_LOCK})`;
      const done = opened.exclusively(() => Promise.resolve("done"));
      await eventually(() => reasons().length > 0);
      await sql`select pg_advisory_unlock(${TURN_LOCK})`;
      assertEquals(await done, "done");
    });
    await opened.close();
    const thing = "another gateway that starts, and writes its accounts and keys";
    assertMatch(itemAt(reasons(), 0), new RegExp(`the start waits for ${thing}, without a time limit$`));
  });

  Deno.test("start waits: for an answer of a server that accepts the connection and says nothing", async () => {
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = silent.addr as Deno.NetAddr;
    const { store, reasons } = start(`postgres://nobody@127.0.0.1:${port}/silent`);
    const refused = await assertRejects(() => store, StoreUnusableError);
    assertMatch(refused.message, /CONNECT_TIMEOUT/);
    assertEquals(reasons(), [
      `nobody@127.0.0.1:${port}/silent: the start waits for an answer of the server, for at most 2 s`,
    ]);
  });
}
