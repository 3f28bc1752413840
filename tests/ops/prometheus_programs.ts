import { join } from "node:path";

/** The programs of Prometheus. */
export interface PrometheusPrograms {
  /** The paths of the executables. */
  readonly prometheus: string;
  readonly promtool: string;
}

/**
 * Returns the installed programs, or unpacks those of Debian's package `prometheus` below a folder. That needs
 * `apt-get`, `dpkg` and a network, but no rights.
 *
 * @param folder An empty folder.
 * @throws {Error} If neither is possible. The message has the reason.
 */
export async function prometheusPrograms(folder: string): Promise<PrometheusPrograms> {
  if (await succeeds("prometheus", "--version") && await succeeds("promtool", "--version")) {
    return { prometheus: "prometheus", promtool: "promtool" };
  }
  try {
    await download(folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`prometheus and promtool are not installed, and Debian's package cannot be unpacked: ${reason}`);
  }
  const programs = join(folder, "usr", "bin");
  return { prometheus: join(programs, "prometheus"), promtool: join(programs, "promtool") };
}

async function download(folder: string): Promise<void> {
  const fetchPackage = (...options: string[]) => run("apt-get", [...options, "download", "prometheus"], folder);
  try {
    await fetchPackage();
  } catch {
    // A machine without lists of packages, such as a fresh container: read them into the folder.
    await Deno.mkdir(join(folder, "lists", "partial"), { recursive: true });
    const own = ["-o", `Dir::State::Lists=${join(folder, "lists")}`, "-o", `Dir::Cache=${folder}`];
    await run("apt-get", [...own, "update"], folder);
    await fetchPackage(...own);
  }
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(".deb")) await run("dpkg", ["-x", name, "."], folder);
  }
}

/**
 * Runs a program to its end.
 *
 * @returns What it printed.
 * @throws {Error} With what it printed if it fails.
 */
export async function run(program: string, args: readonly string[], folder: string): Promise<string> {
  const command = new Deno.Command(program, {
    args: [...args],
    cwd: folder,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { success, stdout, stderr } = await command.output();
  const [printed, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes).trim());
  if (!success) throw new Error(`${program} ${args.join(" ")} failed: ${errors}\n${printed}`);
  return `${printed}\n${errors}`;
}

async function succeeds(program: string, ...args: string[]): Promise<boolean> {
  return await run(program, args, "/").then(() => true, () => false);
}
