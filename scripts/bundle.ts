/**
 * `deno task bundle [--output=FOLDER]`: bundles the gateway into `dist/app`, plain JavaScript that Deno runs without this
 * repository, its packages or a network. `compile.ts`, `package.ts` and the container start from it.
 */
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildConsoleBundle, CONSOLE_BUNDLE } from "../src/console/bundle.ts";
import { readConfigSchema, SCHEMA_FILE } from "../src/entry/cli/config_schema.ts";
import { DESCRIPTION_FILE, readDescription } from "../src/protocols/documentation/api_description.ts";
import { PAGES_FILE, readPageTexts } from "../src/protocols/documentation/texts.ts";
import { THREAD_MODULES } from "../src/platform/lib/process/program_files.ts";
import { BUILD_FILE } from "../src/entry/cli/version.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Where `deno task bundle` puts it. */
export const BUNDLE = join(ROOT, "dist", "app");

/** The module of a bundle that is run. */
export const MAIN = "main.js";

/**
 * Writes the bundle.
 *
 * @param folder An absolute path. It is emptied first.
 * @throws {Error} If the source cannot be bundled.
 */
export async function writeBundle(folder: string): Promise<void> {
  const { success, outputFiles = [], errors } = await Deno.bundle({
    entrypoints: [join(ROOT, "main.ts"), ...THREAD_MODULES.map((path) => join(ROOT, "src", `${path}.ts`))],
    outputDir: folder,
    platform: "deno",
    codeSplitting: true,
    // The minifier of this version puts `using listener = …; return listener.addr` into one expression, which never
    // disposes. Names in stack traces stay readable, too.
    minify: false,
    write: false,
  });
  if (!success) throw new Error(`Cannot bundle the gateway: ${errors.map(({ text }) => text).join("; ")}`);
  await Deno.remove(folder, { recursive: true }).catch(ignoreMissing);
  const files = new Map(outputFiles.map(({ path, contents }) => [relative(folder, path), contents]));
  const encoder = new TextEncoder();
  files.set(CONSOLE_BUNDLE, encoder.encode(JSON.stringify(await buildConsoleBundle())));
  files.set(PAGES_FILE, encoder.encode(JSON.stringify(Object.fromEntries(await readPageTexts()))));
  files.set(DESCRIPTION_FILE, encoder.encode(JSON.stringify(await readDescription())));
  files.set(SCHEMA_FILE, encoder.encode(await readConfigSchema()));
  files.set(BUILD_FILE, encoder.encode(JSON.stringify({ commit: await commitOf() })));
  for (const [place, contents] of files) {
    const path = join(folder, place);
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeFile(path, contents!);
  }
}

/** Names the commit where the source is without its history, as in the build of the container. */
const COMMIT_NAME = "SWITCHYARD_COMMIT";

/** The commit of the source, with `+` if files were changed since; null outside a repository. */
async function commitOf(): Promise<string | null> {
  const given = Deno.env.get(COMMIT_NAME) ?? "";
  if (/^[0-9a-f]{7,64}\+?$/.test(given)) return given;
  if (given !== "") throw new Error(`Cannot bundle: ${COMMIT_NAME}: expected a commit in hexadecimal, got "${given}"`);
  const [commit, changes] = await Promise.all([
    outputOf("git", "rev-parse", "--short=12", "HEAD"),
    outputOf("git", "status", "--porcelain", "--untracked-files=no"),
  ]);
  return commit && `${commit}${changes === "" ? "" : "+"}`;
}

async function outputOf(program: string, ...args: string[]): Promise<string | null> {
  try {
    const { success, stdout } = await new Deno.Command(program, { args, cwd: ROOT, stderr: "null" }).output();
    return success ? new TextDecoder().decode(stdout).trim() : null;
  } catch {
    return null; // The program is not installed.
  }
}

/**
 * Returns the folder if it is missing, empty, or has an earlier bundle, which a new one replaces.
 *
 * @throws {Error} If it has other files.
 */
function emptyOrBundle(folder: string): string {
  try {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
    if (names.length === 0 || names.includes(MAIN)) return folder;
  } catch (error) {
    ignoreMissing(error);
    return folder;
  }
  throw new Error(`--output: expected a new folder or one with a bundle, got ${folder}, which has other files`);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

if (import.meta.main) {
  const { values: { output } } = parseArgs({ options: { output: { type: "string", default: BUNDLE } } });
  await writeBundle(emptyOrBundle(resolve(output)));
  console.log(`Bundled ${join(output, MAIN)}`);
}
