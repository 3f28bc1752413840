import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { migrateDatabase } from "../../../src/platform/store/postgres/migrate.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { storeContract } from "../../contract/store.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  await server.run("create database ready");
  await migrateDatabase(server.url("ready"));
  let databases = 0;

  storeContract("postgres store", async (clock) => {
    const name = `law_${++databases}`;
    await server.run(`create database ${name} template ready`);
    const open = () => openPostgresStore({ url: server.url(name), clock, log: silentLog, isEngineClock: true });
    let store = await open();
    const reopen = async () => {
      await store.close();
      return store = await open();
    };
    return { store, reopen, dispose: () => server.run(`drop database ${name} with (force)`) };
  });

  Deno.test("postgres store: the server is stopped", () => server.stop());
}
