import postgres from "postgres";
import { ignoreWritesAfterClose } from "./known_driver_errors.ts";
import { createCluster, spawnServer, USER, writeServerFile } from "./postgres_cluster.ts";

/** Set by `deno task test:postgres`, because the tests start a server and may install it. */
export const isPostgresWanted: boolean = Deno.env.has("SWITCHYARD_TEST_POSTGRES");

/** A PostgreSQL server that only the tests of one file use. */
export interface PostgresServer {
  readonly port: number;
  /** The process that starts one for each connection. Another one after a crash. */
  readonly pid: number;
  /** The address of a database. */
  url(database: string): string;
  /** Runs a statement in the database `postgres`. */
  run(statement: string): Promise<void>;
  /** Ends the server at once, as a crash does, and starts it again. */
  crash(): Promise<void>;
  /** Ends the server at once, runs something, and starts the server again. */
  whileDown<T>(run: () => Promise<T>): Promise<T>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts a server with an empty folder.
 *
 * @param isDurable Whether writes survive a loss of power, for measurements. Default false, which is faster.
 * @param tls The certificate and key of the server in PEM. Default: it takes no encrypted connections.
 * @throws {Error} If no server is installed and none can be unpacked.
 */
export async function startPostgres(
  isDurable = false,
  tls: { readonly certificate: string; readonly key: string } | null = null,
): Promise<PostgresServer> {
  ignoreWritesAfterClose();
  const cluster = await createCluster();
  if (tls !== null) {
    await writeServerFile(cluster, "server.crt", tls.certificate);
    await writeServerFile(cluster, "server.key", tls.key);
  }
  const port = freePort();
  const settings = {
    ...settingsOf(port),
    ...(tls !== null && { ssl: "on" }),
    ...(isDurable && { fsync: "on" }),
  };
  const spawn = () => spawnServer(cluster, settings);
  let child = spawn();
  const url = (database: string) => addressOf(port, database);
  await untilReady(url("postgres"));
  async function whileDown<T>(run: () => Promise<T>): Promise<T> {
    child.kill("SIGQUIT");
    await child.status;
    try {
      return await run();
    } finally {
      child = spawn();
      await untilReady(url("postgres"));
    }
  }
  return {
    port,
    get pid() {
      return child.pid;
    },
    url,
    run: (statement) => withConnection(url("postgres"), async (sql) => void await sql.unsafe(statement)),
    crash: () => whileDown(() => Promise.resolve()),
    whileDown,
    async stop() {
      child.kill("SIGQUIT");
      await child.status;
      await Deno.remove(cluster.folder, { recursive: true });
    },
  };
}

/** The settings of every server of the tests. */
export function settingsOf(port: number): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "300",
    fsync: "off", // without it a crash of the server alone loses nothing either
    logging_collector: "off",
    log_min_messages: "panic",
  };
}

/** The address of a database on loopback. */
export function addressOf(port: number, database: string): string {
  return `postgres://${USER}@127.0.0.1:${port}/${database}`;
}

/** Runs statements over a connection of its own. */
export async function withConnection<T>(url: string, run: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 5 });
  try {
    return await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Waits until a database answers. */
export async function untilReady(url: string): Promise<void> {
  while (true) {
    try {
      return await withConnection(url, async (sql) => void await sql`select 1`);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A port on loopback that nothing listens on now. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
