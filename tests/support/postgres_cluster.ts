import { join } from "node:path";
import { programsFor } from "./postgres_programs.ts";

/** The superuser of every cluster of the tests. It needs no password. */
export const USER = "switchyard";
/** The server refuses to run as root; this is the user `nobody`. */
const UNPRIVILEGED_ID = 65_534;

/** The data of a server of a test, which no server uses yet. */
export interface PostgresCluster {
  /** A temporary folder with everything. */
  readonly folder: string;
  readonly data: string;
  /** The folder of the server's programs. */
  readonly programs: string;
}

/** Makes an empty cluster in a temporary folder. @throws {Error} If there are no programs, or `initdb` fails. */
export async function createCluster(): Promise<PostgresCluster> {
  const folder = await Deno.makeTempDir();
  await Deno.chmod(folder, 0o755);
  const cluster = { folder, data: join(folder, "data"), programs: await programsFor(folder) };
  await Deno.mkdir(cluster.data, { mode: 0o700 });
  await giveToServer(cluster.data);
  const { success, stderr } = await new Deno.Command(join(cluster.programs, "initdb"), {
    args: ["-D", cluster.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    ...serverOptions(cluster),
  }).output();
  if (!success) throw new Error(`initdb failed: ${new TextDecoder().decode(stderr)}`);
  return cluster;
}

/** Copies the data of a cluster that no server uses, in the same temporary folder. */
export async function copyCluster(cluster: PostgresCluster, name: string): Promise<PostgresCluster> {
  const data = join(cluster.folder, name);
  const { success, stderr } = await new Deno.Command("cp", { args: ["-a", cluster.data, data] }).output();
  if (!success) throw new Error(`The data cannot be copied: ${new TextDecoder().decode(stderr)}`);
  return { ...cluster, data };
}

/** Writes a file that the server reads. */
export async function writeServerFile({ data }: PostgresCluster, name: string, text: string): Promise<void> {
  await Deno.writeTextFile(join(data, name), text, { mode: 0o600 });
  await giveToServer(join(data, name));
}

/** Starts the server of a cluster. It may not answer yet. */
export function spawnServer(cluster: PostgresCluster, settings: Readonly<Record<string, string>>): Deno.ChildProcess {
  const given = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return new Deno.Command(join(cluster.programs, "postgres"), {
    args: ["-D", cluster.data, ...given],
    ...serverOptions(cluster),
    stdout: "null",
    stderr: "null",
  }).spawn();
}

async function giveToServer(path: string): Promise<void> {
  if (Deno.uid() === 0) await Deno.chown(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
}

function serverOptions({ folder }: PostgresCluster) {
  const owner = Deno.uid() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
  return { ...owner, cwd: folder, env: { LC_ALL: "C", TZ: "UTC" } };
}
