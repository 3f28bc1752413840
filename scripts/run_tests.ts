/**
 * Runs all tests, or those of the files and folders that the arguments name. Options of `deno test` are passed on:
 *
 *     deno task test --junit-path=tests.xml
 *     deno task test tests/net tests/e2e/images_test.ts --filter=redirect
 *
 * When all run, files share isolates in groups, and threads and processes run a bundle: a small file takes most of its
 * time to compile the gateway. Source: docs/decisions/0195-tests-in-groups.md,
 * docs/decisions/0196-tests-with-a-bundle.md.
 */
import { join, relative } from "node:path";
import { writeBundle } from "./bundle.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const FLAGS = ["--lock=tests/deno.lock", "--no-check", "--parallel", "-P=tests", "--quiet"];
const MAX_FILES_PER_GROUP = 36;
/** Hooks and changed globals, which would hold for the other files of a group, and files that say so themselves. */
const ALONE =
  /\bDeno\.test\.(?:before|after)|\bObject\.defineProperty\((?:Deno|globalThis)\b|mistaken_connect|Needs its own isolate/;

const options = Deno.args.filter((argument) => argument.startsWith("-"));
const named = Deno.args.filter((argument) => !argument.startsWith("-"));
const folder = await Deno.makeTempDir({ prefix: "switchyard-tests-" });
try {
  const paths = named.length > 0 ? named : await writeGroups(folder);
  const bundle = named.length > 0 ? null : join(folder, "bundle");
  if (bundle !== null) await writeBundle(bundle);
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", ...FLAGS, ...options, ...paths],
    cwd: ROOT,
    env: bundle === null ? {} : { SWITCHYARD_TEST_BUNDLE: bundle },
  }).spawn().status;
  Deno.exitCode = code;
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** Writes a module for each group of test files, and returns their paths and those of the files that run alone. */
async function writeGroups(folder: string): Promise<string[]> {
  const areas = new Map<string, string[]>();
  const paths: string[] = [];
  for (const path of await testFiles(join(ROOT, "tests"))) {
    const [area = ""] = relative(join(ROOT, "tests"), path).split("/");
    if (ALONE.test(await Deno.readTextFile(path))) paths.push(path);
    else areas.set(area, [...areas.get(area) ?? [], path]);
  }
  for (const [name, files] of groupsOf(areas)) {
    const path = join(folder, `${name}_test.ts`);
    await Deno.writeTextFile(path, files.map((file) => `import "file://${file}";\n`).join(""));
    paths.push(path);
  }
  return paths;
}

/** Parts of large folders, and small folders together. Each has the name of its first folder. */
function groupsOf(areas: ReadonlyMap<string, readonly string[]>): Map<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  let small: { name: string; files: string[] } | null = null;
  for (const [area, files] of areas) {
    const parts = Math.ceil(files.length / MAX_FILES_PER_GROUP);
    if (parts > 1) {
      for (let part = 0; part < parts; part++) {
        groups.set(`${area}_${part + 1}`, files.filter((_, index) => index % parts === part));
      }
    } else if (small !== null && small.files.length + files.length <= MAX_FILES_PER_GROUP) {
      small.files.push(...files);
    } else {
      small = { name: area, files: [...files] };
      groups.set(area, small.files);
    }
  }
  return groups;
}

/** The paths of all test files below a folder, in order. */
async function testFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory && name !== "node_modules") files.push(...await testFiles(path));
    else if (name.endsWith("_test.ts")) files.push(path);
  }
  return files.sort();
}
