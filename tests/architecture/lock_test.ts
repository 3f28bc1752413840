import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT, sourceFiles } from "./source_files.ts";

const ADVICE = 'run "deno task --frozen=false lock"';
const ENTRIES = ["main.ts", "src/console/client/main.tsx"];
const LOCK_OF_TESTS = "--lock=tests/deno.lock";
const PACKAGE = /^npm:((?:@[^/]+\/)?[^/@]+@[^/]+)/;

/** A lock file of Deno, as far as it is read here: packages by name, version and the versions of their peers. */
interface LockFile {
  /** The version of each package that a module imports, by the package's name and version in the import. */
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, { readonly integrity: string }>>;
}

/** What `deno info --json` prints, as far as it is read here. */
interface ModuleGraph {
  readonly modules: readonly { readonly npmPackage?: string }[];
  /** Every package of the lock file, imported or not. */
  readonly npmPackages: Readonly<Record<string, { readonly dependencies: readonly string[] }>>;
}

/** What `deno.json` says of packages and tasks. */
interface Project {
  readonly imports: Readonly<Record<string, string>>;
  readonly scopes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly tasks: Readonly<Record<string, { readonly command: string }>>;
}

/** A program that a task runs, with the options before its path. */
interface Program {
  readonly options: string;
  readonly path: string;
}

const project: Project = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
const commands = Object.values(project.tasks).map(({ command }) => command);

// A task installs what `deno.lock` has and what `imports` names before it starts its command.
Deno.test("deno.lock: has the packages that the gateway and the console import, and no others", async () => {
  const imported = await Promise.all(ENTRIES.map(importedBy));
  const { npm } = await lockFile("deno.lock");
  assertEquals(Object.keys(npm).sort(), [...new Set(imported.flat())].sort(), ADVICE);
});

Deno.test("deno.json: imports has the packages that the gateway and the console import, and no others", async () => {
  const { specifiers } = await lockFile("deno.lock");
  assertEquals(packagesIn(project.imports).filter((name) => !Object.hasOwn(specifiers, name)), []);
  const ofTests = Object.values(project.scopes).flatMap(packagesIn);
  assert(ofTests.length > 10);
  assertEquals(ofTests.filter((name) => Object.hasOwn(specifiers, name)), []);
});

Deno.test("tests/deno.lock: has all packages of deno.lock", async () => {
  const [all, own] = await Promise.all([integrities("tests/deno.lock"), integrities("deno.lock")]);
  assertEquals([...own].filter(([name, integrity]) => all.get(name) !== integrity), [], ADVICE);
});

Deno.test("deno.json: a task starts without a change of deno.lock", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const file of ["deno.json", "deno.lock", "src/console/client/deno.json"]) {
      await Deno.mkdir(join(folder, file, ".."), { recursive: true });
      await Deno.copyFile(join(ROOT, file), join(folder, file));
    }
    assertEquals(await run(["task", "--quiet", "--eval", "echo started"], folder), "started\n", ADVICE);
    assertEquals(await Deno.readTextFile(join(folder, "deno.lock")), await Deno.readTextFile(join(ROOT, "deno.lock")));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("deno.json: tasks that test or check use tests/deno.lock, and tasks that start the gateway do not", () => {
  const checks = commands.filter((command) => /deno (?:test|check) /.test(command));
  assert(checks.length > 10);
  assertEquals(checks.filter((command) => !RegExp(`deno (?:test|check) ${LOCK_OF_TESTS} `).test(command)), []);
  const starts = commands.flatMap(programsOf).filter(({ path }) => path === "main.ts");
  assertEquals(starts.length, 3);
  assertEquals(starts.filter(({ options }) => /--(?:no-)?lock/.test(options)), []);
});

Deno.test("deno.json: every program that a task runs has its packages in the lock file that the task uses", async () => {
  const programs = commands.flatMap(programsOf);
  assert(programs.length > 15);
  const [withTests, others] = [true, false].map((usesTests) =>
    programs.filter(({ options }) => options.includes(LOCK_OF_TESTS) === usesTests).map(({ path }) => path)
  );
  await run(["cache", "--quiet", ...others ?? []]);
  await run(["cache", "--quiet", LOCK_OF_TESTS, ...withTests ?? []]);
});

// Without a lock file, Deno takes the newest versions that fit, which no task has installed on a new machine.
Deno.test("tests, benchmarks, scripts: a program that Deno runs has the packages of a lock file", async () => {
  const paths = (await Promise.all(["tests", "bench", "scripts"].map(sourceFiles))).flat();
  const files = await Promise.all(
    paths.map(async (path) => ({ path, text: await Deno.readTextFile(join(ROOT, path)) })),
  );
  const startsDeno = /\bDeno\.execPath\(\)/;
  const namesPackages = /\b(?:p|withP)ackages?OfTests\(/;
  const wrong = files.filter(({ text }) =>
    /["' ]--no-lock\b/.test(text) ||
    startsDeno.test(text) && namesPackages.test(text) && !/--lock\b.*LOCK_OF_TESTS/.test(text)
  );
  assertEquals(wrong.map(({ path }) => path), []);
});

/** The programs that a command starts with `deno run`. */
function programsOf(command: string): Program[] {
  return [...command.matchAll(/deno run ((?:-\S+ )*)(\S+)/g)].map(([, options = "", path = ""]) => ({ options, path }));
}

/** The packages that a part of `deno.json` names, in the form of a lock file: `npm:ajv@8.20.0`. */
function packagesIn(imports: Readonly<Record<string, string>>): string[] {
  return Object.values(imports).flatMap((target) => PACKAGE.exec(target)?.[0] ?? []);
}

/** The packages that a module imports, and those that they need, with their versions. */
async function importedBy(module: string): Promise<string[]> {
  const { modules, npmPackages: locked }: ModuleGraph = JSON.parse(await run(["info", "--json", module]));
  const needed = new Set(modules.flatMap(({ npmPackage }) => npmPackage ?? []));
  for (const name of needed) locked[name]?.dependencies.forEach((dependency) => needed.add(dependency));
  return [...needed];
}

async function lockFile(file: string): Promise<LockFile> {
  return JSON.parse(await Deno.readTextFile(join(ROOT, file)));
}

async function integrities(file: string): Promise<Map<string, string>> {
  const { npm } = await lockFile(file);
  return new Map(Object.entries(npm).map(([key, { integrity }]) => [withoutPeers(key), integrity]));
}

function withoutPeers(key: string): string {
  return key.replace(/_.*$/, "");
}

/** Runs Deno and returns what it prints. */
async function run(args: readonly string[], cwd = ROOT): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), { args: [...args], cwd, env: { NO_COLOR: "1" } });
  const { success, stdout, stderr } = await command.output();
  assert(success, `${new TextDecoder().decode(stderr)}\n${ADVICE}`);
  return new TextDecoder().decode(stdout);
}
