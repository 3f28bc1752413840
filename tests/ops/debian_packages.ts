import { join } from "node:path";

/**
 * Unpacks packages of Debian below a folder. That needs `apt-get`, `dpkg` and a network, but no rights.
 *
 * @param folder An empty folder.
 * @throws {Error} If that is not possible.
 */
export async function unpackPackages(names: readonly string[], folder: string): Promise<void> {
  const fetchPackages = (...options: string[]) => run("apt-get", [...options, "download", ...names], folder);
  try {
    await fetchPackages();
  } catch {
    // A machine without lists of packages, such as a fresh container: read them into the folder.
    await Deno.mkdir(join(folder, "lists", "partial"), { recursive: true });
    const own = ["-o", `Dir::State::Lists=${join(folder, "lists")}`, "-o", `Dir::Cache=${folder}`];
    await run("apt-get", [...own, "update"], folder);
    await fetchPackages(...own);
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

/** Whether a program can be run and succeeds. */
export async function succeeds(program: string, ...args: string[]): Promise<boolean> {
  return await run(program, args, "/").then(() => true, () => false);
}
