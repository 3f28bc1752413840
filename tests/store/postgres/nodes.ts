import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import type { PostgresStore } from "../../../src/platform/store/postgres/postgres_store.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import type { PostgresServer } from "../../support/postgres_server.ts";

/** A node of a test, and its clock if the test moves it. */
export interface Node {
  readonly store: PostgresStore;
  readonly clock: ManualClock;
}

let databases = 0;

/** Runs a test with an empty database. */
export function overDatabase(server: PostgresServer, promise: string, run: (url: string) => Promise<void>): void {
  Deno.test(`postgres nodes: ${promise}`, async () => {
    const name = `nodes_${++databases}`;
    await server.run(`create database ${name}`);
    try {
      await run(server.url(name));
    } finally {
      await server.run(`drop database ${name} with (force)`);
    }
  });
}

/** Runs a test with nodes on one database, each with a clock of its own. */
export function overNodes(
  server: PostgresServer,
  count: number,
  promise: string,
  run: (nodes: readonly Node[], url: string) => Promise<void>,
): void {
  overDatabase(server, promise, async (url) => {
    const nodes = await Promise.all(Array.from({ length: count }, async (): Promise<Node> => {
      const clock = new ManualClock();
      return { clock, store: await openPostgresStore({ url, clock, log: silentLog, isEngineClock: true }) };
    }));
    try {
      await run(nodes, url);
    } finally {
      await Promise.all(nodes.map(({ store }) => store.close()));
    }
  });
}
