import { type PostgresServer, startPostgres, withConnection } from "../tests/support/postgres_server.ts";
import type { Server } from "./child.ts";
import { type Contender, passThrough } from "./contenders.ts";
import { type GatewayOptions, startGateway } from "./gateway.ts";
import { familyCpuMs, processState } from "./process_state.ts";
import { newFolder } from "./servers.ts";

/** Gateways on one store, which are measured together. */
export interface Variant {
  /** The name in the report. */
  readonly label: string;
  /** How many threads accept connections together. */
  readonly threads: number;
  readonly gateways: readonly Server[];
  /** The server of their database; null if the store is a file. */
  readonly database: PostgresServer | null;
}

/** The resources that the processes of a variant have used so far. */
export interface VariantUse {
  /** Processor time of all gateways, in milliseconds; null without `/proc`. */
  readonly gatewayMs: number | null;
  /** That of the database server; null without one. */
  readonly databaseMs: number | null;
  /** The resident memory of all gateways. */
  readonly residentBytes: number | null;
}

/** A PostgreSQL server with its version, or the reason why there is none. */
export type FoundPostgres = { readonly server: PostgresServer; readonly version: string } | { readonly why: string };

/** Starts a PostgreSQL server that syncs its commits to the disk. */
export async function findPostgres(): Promise<FoundPostgres> {
  try {
    const server = await startPostgres(true);
    const [row] = await withConnection(server.url("postgres"), (sql) => sql`show server_version`);
    return { server, version: String(row?.server_version).split(" ", 1)[0] ?? "" };
  } catch (error) {
    return { why: String(error).split("\n", 1)[0] ?? "unknown" };
  }
}

/** Starts one gateway with each number of threads, with a store in a file. Servers are added to `running`. */
export async function startThreadVariants(
  counts: readonly number[],
  { folder, upstreamPort }: Pick<GatewayOptions, "folder" | "upstreamPort">,
  running: Server[],
): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const isolates of counts) {
    const own = await newFolder(folder, `isolates-${isolates}`);
    const gateway = await startGateway({ folder: own, upstreamPort, core: null, isolates });
    running.push(gateway);
    const label = isolates === 1 ? "1 thread" : `${isolates} threads`;
    variants.push({ label, threads: isolates, gateways: [gateway], database: null });
  }
  return variants;
}

/** Starts one and two gateways of one thread in each mode of durability. Servers are added to `running`. */
export async function startDatabaseVariants(
  database: PostgresServer,
  { folder, upstreamPort }: Pick<GatewayOptions, "folder" | "upstreamPort">,
  running: Server[],
): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const durability of ["power", "process"] as const) {
    for (const count of [1, 2]) {
      const name = `${durability}_${count}`;
      await database.run(`create database ${name}`);
      const gateways: Server[] = [];
      for (let number = 1; number <= count; number++) {
        const own = await newFolder(folder, `${name}_${number}`);
        const store = database.url(name);
        gateways.push(await startGateway({ folder: own, upstreamPort, core: null, isolates: 1, durability, store }));
      }
      running.push(...gateways);
      const label = `${count === 1 ? "1 gateway" : `${count} gateways`}, \`${durability}\``;
      variants.push({ label, threads: count, gateways, database });
    }
  }
  return variants;
}

/** The contenders that send JSON to each gateway of a variant. */
export function contendersFor({ gateways }: Variant): Contender[] {
  return gateways.map(passThrough);
}

/** Reads what a variant has used so far. */
export async function useOf({ gateways, database }: Variant): Promise<VariantUse> {
  const states = await Promise.all(gateways.map(({ pid }) => processState(pid)));
  const sumOf = (of: "cpuMs" | "residentBytes") =>
    states.reduce<number | null>((sum, state) => sum === null || state === null ? null : sum + state[of], 0);
  return {
    gatewayMs: sumOf("cpuMs"),
    databaseMs: database === null ? null : await familyCpuMs(database.pid),
    residentBytes: sumOf("residentBytes"),
  };
}
