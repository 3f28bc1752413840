import { startCutProxy } from "./cut_proxy.ts";
import { copyCluster, createCluster, spawnServer, USER, writeServerFile } from "./postgres_cluster.ts";
import { addressOf, freePort, settingsOf, untilReady, withConnection } from "./postgres_server.ts";

/** A primary and a standby with synchronous replication, behind an address that can lead to either. */
export interface ReplicatedPostgres {
  /** The address of a database at the server that connections are led to: at first the primary. */
  url(database: string): string;
  /** Ends the primary at once, as the failure of its host does. */
  losePrimary(): Promise<void>;
  /** Leads all connections to the standby. It takes no writes until {@linkcode ReplicatedPostgres.promote}. */
  leadToStandby(): void;
  /** Makes the standby a primary. Resolves when it takes writes. */
  promote(): Promise<void>;
  /** Starts the former primary again, as it was when it was lost, and leads all connections to it. */
  leadToFormerPrimary(): Promise<void>;
  /** Ends everything and removes the files. */
  stop(): Promise<void>;
}

/**
 * Starts a primary that acknowledges a commit when the standby has it too. The standby is a copy of the empty cluster
 * that follows the primary from its first change, so no other program than the server's is needed.
 */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const primary = await createCluster();
  const standby = await copyCluster(primary, "standby");
  const [primaryPort, standbyPort] = [freePort(), freePort()];
  await writeServerFile(standby, "standby.signal", "");
  const spawnPrimary = (settings: Readonly<Record<string, string>>) =>
    spawnServer(primary, { ...settingsOf(primaryPort), ...settings });
  let primaryProcess = spawnPrimary({ synchronous_standby_names: "*" });
  await untilReady(addressOf(primaryPort, "postgres"));
  const standbyProcess = spawnServer(standby, {
    ...settingsOf(standbyPort),
    primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=${USER}`,
  });
  await untilReplicated(addressOf(primaryPort, "postgres"));
  const proxy = startCutProxy(primaryPort);
  const leadTo = (port: number) => {
    proxy.targetPort = port;
    proxy.cut();
  };
  return {
    url: (database) => addressOf(proxy.port, database),
    async losePrimary() {
      primaryProcess.kill("SIGQUIT");
      await primaryProcess.status;
    },
    leadToStandby: () => leadTo(standbyPort),
    promote: () =>
      withConnection(addressOf(standbyPort, "postgres"), async (sql) => void await sql`select pg_promote()`),
    async leadToFormerPrimary() {
      primaryProcess = spawnPrimary({}); // alone, it would wait for a standby for ever
      await untilReady(addressOf(primaryPort, "postgres"));
      leadTo(primaryPort);
    },
    async stop() {
      await proxy.stop();
      for (const child of [primaryProcess, standbyProcess]) {
        try {
          child.kill("SIGQUIT");
        } catch {
          // It was lost.
        }
        await child.status;
      }
      await Deno.remove(primary.folder, { recursive: true });
    },
  };
}

/** Waits until each commit waits for the standby. */
async function untilReplicated(url: string): Promise<void> {
  await withConnection(url, async (sql) => {
    while ((await sql`select from pg_stat_replication where sync_state = 'sync'`).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}
