import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { migrateDatabase } from "../../../src/platform/store/postgres/migrate.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { copyLongNames } from "../../billing/usage/copy_laws.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  await server.run("create database usage");
  await migrateDatabase(server.url("usage"));

  Deno.test("a day with many long names is copied: in PostgreSQL", async () => {
    const store = await openPostgresStore({ url: server.url("usage"), clock: systemClock, log: silentLog });
    try {
      await copyLongNames(store, systemClock);
    } finally {
      await store.close();
    }
  });

  Deno.test("usage in PostgreSQL: the server is stopped", () => server.stop());
}
