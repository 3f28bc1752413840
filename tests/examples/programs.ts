import { basename, dirname, join } from "node:path";
import { languageTest } from "../support/language_test.ts";

/** What a test of an example needs, and does. */
export interface ProgramTest {
  readonly program: string;
  /** Packages of npm that Deno's cache has to hold: nothing is loaded from the network. Default none. */
  readonly packages?: readonly string[];
  readonly run: () => Promise<void>;
}

/** What `deno task test:languages` installs. */
const LANGUAGES: ReadonlySet<string> = new Set(["python3", "go"]);

/** A test that is skipped, with the reason in its name, where the program or a package is not installed. */
export function programTest(name: string, { program, packages = [], run }: ProgramTest): void {
  if (LANGUAGES.has(program)) return languageTest(name, run);
  const missing = !isInstalled(program) ? program : packages.find((each) => packageFolder(each) === null);
  if (missing === undefined) {
    Deno.test(name, run);
  } else {
    Deno.test({ name: `${name} (skipped: ${missing} is not installed)`, ignore: true, fn() {} });
  }
}

/**
 * Copies an example to a folder where Node finds the packages and what they depend on, as links into Deno's cache. Node
 * has to run it with `--preserve-symlinks`.
 *
 * @returns The path to run.
 */
export async function linkNodePackages(file: string, packages: readonly string[], scratch: string): Promise<string> {
  const folder = await Deno.makeTempDir({ dir: scratch });
  for (const name of packages) await linkPackage(name, packageFolder(name), join(folder, "node_modules"));
  const copy = join(folder, basename(file));
  await Deno.copyFile(file, copy);
  return copy;
}

async function linkPackage(name: string, target: string | null, nodeModules: string): Promise<void> {
  if (target === null) throw new Error(`The package ${name} is not in Deno's cache`);
  const link = join(nodeModules, name);
  if (await Deno.lstat(link).then(() => true, () => false)) return;
  await Deno.mkdir(dirname(link), { recursive: true });
  await Deno.symlink(target, link);
  const { dependencies = {} } = JSON.parse(await Deno.readTextFile(join(target, "package.json")));
  const registry = target.slice(0, target.lastIndexOf(`/${name}/`));
  for (const dependency of Object.keys(dependencies)) {
    await linkPackage(dependency, newestVersion(join(registry, dependency)), nodeModules);
  }
}

/** Of the versions of a package that the cache holds, the one that was loaded last; null when there is none. */
function newestVersion(folder: string): string | null {
  const versions = [...Deno.readDirSync(folder)].filter(({ isDirectory }) => isDirectory)
    .map(({ name }) => join(folder, name))
    .sort((one, other) => Number(Deno.statSync(one).mtime) - Number(Deno.statSync(other).mtime));
  return versions.at(-1) ?? null;
}

/** Whether it runs. Where Node is not installed, Deno starts itself in its place and prints its own name. */
function isInstalled(program: string): boolean {
  try {
    const { success, stdout } = new Deno.Command(program, { args: ["--version"], stderr: "null" }).outputSync();
    return success && !new TextDecoder().decode(stdout).startsWith("deno");
  } catch {
    return false;
  }
}

/** The folder in Deno's cache of the version that the tests import, or null. */
function packageFolder(name: string): string | null {
  try {
    const entry = new URL(import.meta.resolve(name));
    const folder = decodeURIComponent(entry.pathname);
    const end = folder.indexOf(`/${name}/`) + name.length + 2;
    const root = folder.slice(0, folder.indexOf("/", end));
    return Deno.statSync(join(root, "package.json")).isFile ? root : null;
  } catch {
    return null;
  }
}
