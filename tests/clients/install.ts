import { join } from "node:path";

/** The folder outside the repository where programs are installed, and their runtimes. */
export interface Cache {
  /** An absolute path. */
  readonly folder: string;
  /** The executables of one npm package with its dependencies: `<folder>/npm/<name>/node_modules/.bin`. */
  npm(name: string, packages: readonly string[]): Promise<void>;
  /** A Python virtual environment with these packages: `<folder>/python/<name>`. */
  python(name: string, packages: readonly string[]): Promise<void>;
  /**
   * A folder that a build fills, `<folder>/built/<name>`.
   *
   * @param sources The inputs of the build; a change of them builds again.
   * @param build Gets the folder's path.
   */
  built(name: string, sources: readonly string[], build: (target: string) => Promise<void>): Promise<void>;
}

/** The Node version that programs run on, from npm: some need a newer one than the machine's. */
const NODE_PACKAGE = "node@22.23.3";

/** Newest first, within the versions that the packages support. */
const PYTHONS = ["python3.12", "python3.11", "python3.13", "python3"];

/**
 * Opens the cache: `SWITCHYARD_CLIENTS_CACHE`, otherwise `switchyard-clients` in the user's cache folder. Installed
 * programs of the pinned versions are reused.
 */
export async function openCache(): Promise<Cache> {
  const base = Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache");
  const folder = Deno.env.get("SWITCHYARD_CLIENTS_CACHE") ?? join(base, "switchyard-clients");
  await Deno.mkdir(folder, { recursive: true });
  const cache: Cache = {
    folder,
    npm: (name, packages) =>
      once(join(folder, "npm", name), packages, async (target) => {
        await Deno.writeTextFile(join(target, "package.json"), '{ "private": true }\n');
        await installer("npm", ["install", "--no-audit", "--no-fund", "--prefix", target, ...packages], target);
      }),
    python: (name, packages) =>
      once(join(folder, "python", name), packages, async (target) => {
        await installer(await python(), ["-m", "venv", target], target);
        await installer(join(target, "bin", "pip"), ["install", "--quiet", ...packages], target);
      }),
    built: (name, sources, build) => once(builtFolder(cache, name), sources, build),
  };
  await cache.npm("node", [NODE_PACKAGE]);
  return cache;
}

/** Folders of executables on every program's PATH, after its own. */
export function commonPath(cache: Cache): string[] {
  return [npmBin(cache, "node"), "/usr/local/bin", "/usr/bin", "/bin"];
}

/** The folder of the executables of {@linkcode Cache.npm}. */
export function npmBin(cache: Cache, name: string): string {
  return join(cache.folder, "npm", name, "node_modules", ".bin");
}

/** The folder of the executables of {@linkcode Cache.python}. */
export function pythonBin(cache: Cache, name: string): string {
  return join(cache.folder, "python", name, "bin");
}

/** The folder of the results of {@linkcode Cache.built}. */
export function builtFolder(cache: Cache, name: string): string {
  return join(cache.folder, "built", name);
}

const running = new Map<string, Promise<void>>();

/** Installs into an empty folder, unless a complete one with these packages exists. */
function once(target: string, packages: readonly string[], install: (target: string) => Promise<void>): Promise<void> {
  const known = running.get(target);
  if (known) return known;
  const mark = join(target, ".installed");
  const wanted = packages.join("\n");
  const work = async () => {
    if (await Deno.readTextFile(mark).catch(() => null) === wanted) return;
    await Deno.remove(target, { recursive: true }).catch(() => {});
    await Deno.mkdir(target, { recursive: true });
    await install(target);
    await Deno.writeTextFile(mark, wanted);
  };
  const promise = work();
  running.set(target, promise);
  return promise;
}

/**
 * Runs a program that installs or builds.
 *
 * @throws {Error} If it fails, with the end of its output.
 */
export async function installer(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args: [...args], cwd, stdout: "null", stderr: "piped" })
    .output();
  if (success) return;
  const words = new TextDecoder().decode(stderr).trim().split("\n").slice(-5).join("\n");
  throw new Error(`${command} ${args.join(" ")} failed: ${words}`);
}

async function python(): Promise<string> {
  for (const command of PYTHONS) {
    const probe = new Deno.Command(command, { args: ["-m", "venv", "--help"], stdout: "null", stderr: "null" });
    const found = await probe.output().then(({ success }) => success, () => false);
    if (found) return command;
  }
  throw new Error(`No Python that can make virtual environments: looked for ${PYTHONS.join(", ")}`);
}
