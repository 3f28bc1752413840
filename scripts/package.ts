/**
 * `deno task package`: builds a package for npm, `dist/switchyard-gateway-VERSION.tgz`. It contains the bundle and
 * depends on Deno's own package, so that a machine with Node alone can install and run it.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "../src/entry/cli/version.ts";
import { writeBundle } from "./bundle.ts";
import { RUN_ENVIRONMENT, RUN_FLAGS } from "./run_flags.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const DIST = join(ROOT, "dist");

/** The name of the package. The name without a scope belongs to somebody else. */
const NAME = "@switchyard/gateway";

/**
 * Builds the package.
 *
 * @returns The path of the file.
 * @throws {Error} If the source cannot be bundled, or npm is missing or fails.
 */
export async function buildPackage(): Promise<string> {
  const folder = join(DIST, "package");
  await writeBundle(join(folder, "app"));
  await Deno.writeTextFile(join(folder, "app", "flags.json"), JSON.stringify(RUN_FLAGS));
  await Deno.writeTextFile(join(folder, "app", "environment.json"), JSON.stringify(RUN_ENVIRONMENT));
  await Deno.mkdir(join(folder, "bin"), { recursive: true });
  await Deno.copyFile(join(ROOT, "scripts/package/switchyard.mjs"), join(folder, "bin", "switchyard.mjs"));
  await Deno.chmod(join(folder, "bin", "switchyard.mjs"), 0o755);
  // Links of the repository's README lead nowhere in a package.
  await Deno.copyFile(join(ROOT, "scripts/package/README.md"), join(folder, "README.md"));
  await Deno.copyFile(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  await Deno.writeTextFile(join(folder, "package.json"), `${JSON.stringify(MANIFEST, null, 2)}\n`);
  return join(DIST, await npmPack(folder));
}

const MANIFEST = {
  name: NAME,
  version: VERSION,
  description: "A gateway in front of many model vendors, in the protocol that clients already use",
  license: "MIT",
  type: "module",
  bin: { switchyard: "bin/switchyard.mjs" },
  files: ["app", "bin"],
  engines: { node: ">=20" },
  // The version that runs the build, with which everything was tested.
  dependencies: { deno: Deno.version.deno },
};

async function npmPack(folder: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npm", {
    args: ["pack", "--json", "--pack-destination", DIST],
    cwd: folder,
  }).output();
  if (!success) throw new Error(`npm cannot pack: ${new TextDecoder().decode(stderr).trim()}`);
  const [{ filename }] = JSON.parse(new TextDecoder().decode(stdout));
  return filename;
}

if (import.meta.main) {
  const path = await buildPackage();
  const { size } = await Deno.stat(path);
  console.log(`Built ${path} with ${(size / 1_000_000).toFixed(1)} MB`);
}
