import { type RunningApp, startApp } from "../../src/entry/app/app.ts";
import type { ServiceOptions } from "../../src/entry/app/opening/services.ts";
import { logInProcess } from "./log_in_process.ts";
import "./program.ts";
import { checkReplies, describedApi } from "./reply_checks.ts";
import { withConnection } from "./postgres_server.ts";

/** A gateway of a test, or several that share a database. */
export interface StartedApps {
  /** The only one, or one of them. */
  readonly app: RunningApp;
  /** Leads each connection to the next gateway. */
  readonly address: string;
  stop(): Promise<void>;
}

/**
 * The address of a PostgreSQL server, `postgres://user@host/database`. If it is set, tests of gateways with a store in
 * memory run with two gateways that share a new database, as `deno task test:variants` does.
 */
const SERVER = Deno.env.get("SWITCHYARD_TEST_DATABASE");

/** Whether tests of gateways with a store in memory run with two gateways that share a database. */
export const arePaired: boolean = SERVER !== undefined;

/** The threads of a gateway whose test does not set them; `deno task test:variants` sets two. */
export const TEST_ISOLATES = Number(Deno.env.get("SWITCHYARD_TEST_ISOLATES") ?? "1");

/** Starts the gateway of a test. One that moves the clock, or names a store, always has one gateway. */
export async function startApps(options: ServiceOptions): Promise<StartedApps> {
  const isAlone = SERVER === undefined || options.config.store !== "kv::memory:" || options.clock !== undefined;
  if (isAlone) {
    const app = await startCheckedApp(options);
    return { app, address: app.address, stop: () => app.stop() };
  }
  return await startPair(options, SERVER);
}

/** Starts a gateway whose replies are checked against the description of the interface. */
export async function startCheckedApp(options: ServiceOptions): Promise<RunningApp> {
  await describedApi();
  const app = await startApp({ memoryLog: logInProcess, ...options });
  const addresses = new Set([app.address, app.adminAddress]);
  const ends = [...addresses].map(checkReplies);
  return {
    ...app,
    async stop() {
      await app.stop();
      for (const end of ends) end();
    },
  };
}

/** A machine that runs other tests, too, answers late. Other tests cover what the gateway does then. */
const PATIENCE = { statementMs: 10_000, connectMs: 60_000, lockMs: 60_000, ledgerMs: 60_000 };

async function startPair(options: ServiceOptions, server: string): Promise<StartedApps> {
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const run = (statement: string) => withConnection(server, async (sql) => void await sql.unsafe(statement));
  await run(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const folder = await Deno.makeTempDir();
  const { config } = options;
  const balancer = startBalancer();
  const address = `http://127.0.0.1:${balancer.port}`;
  const endChecks = checkReplies(address);
  const shared = {
    ...config,
    store: url.href,
    files: config.files.startsWith("/") ? config.files : `${folder}/files`,
    server: { ...config.server, baseUrl: config.server.baseUrl ?? address },
  };
  const start = () => startApp({ ...options, config: shared, sharing: { ...options.sharing, patience: PATIENCE } });
  const apps = await Promise.all([start(), start()]);
  balancer.ports.push(...apps.map((app) => Number(new URL(app.address).port)));
  return {
    app: apps[0],
    address,
    async stop() {
      balancer.stop();
      await Promise.all(apps.map((app) => app.stop()));
      await run(`drop database ${name} with (force)`);
      await Deno.remove(folder, { recursive: true });
      endChecks();
    },
  };
}

interface Balancer {
  readonly port: number;
  /** Those of this host that connections are forwarded to in turn. */
  readonly ports: number[];
  stop(): void;
}

function startBalancer(): Balancer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const ports: number[] = [];
  let next = 0;
  void (async () => {
    for await (const caller of listener) void forward(caller, ports[next++ % ports.length] ?? 0);
  })();
  return { port: listener.addr.port, ports, stop: () => listener.close() };
}

async function forward(caller: Deno.TcpConn, port: number): Promise<void> {
  try {
    const gateway = await Deno.connect({ hostname: "127.0.0.1", port });
    await Promise.allSettled([
      caller.readable.pipeTo(gateway.writable),
      gateway.readable.pipeTo(caller.writable),
    ]);
  } catch {
    caller.close(); // the gateway has stopped
  }
}
