/**
 * `deno task compile`: builds executables. `deno compile` downloads the base runtime of each target. Without a
 * network, set `DENORT_BIN` to a copy of `denort` of exactly the same Deno version.
 *
 * ```text
 * deno task compile                        dist/switchyard, for this machine
 * deno task compile --target TARGET        dist/switchyard-TARGET; "all" for all targets
 * ```
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { baseProblem } from "./base_runtime.ts";
import { BUNDLE, MAIN, writeBundle } from "./bundle.ts";
import { NO_UPDATE_CHECK, PERMISSIONS, UNSTABLE, V8_OPTION } from "./run_flags.ts";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];

/** Signs in the output of `deno compile` that the base runtime is missing. */
const MISSING_RUNTIME = /denort|download|dl\.deno\.land|base binary|error sending request/i;

async function main(args: readonly string[]): Promise<number> {
  const target = args[0] === "--target" ? args[1] : null;
  if (target === undefined || (target !== null && target !== "all" && !TARGETS.includes(target))) {
    console.error(`Cannot compile for this target: expected --target all, or one of ${TARGETS.join(", ")}`);
    return 2;
  }
  const targets = target === "all" ? TARGETS : [target];
  for (const each of targets) {
    const problem = await problemOfBase(each);
    if (problem === null) continue;
    console.error(problem);
    return 1;
  }
  await writeBundle(BUNDLE);
  for (const each of targets) {
    if (!await compile(each)) return 1;
  }
  return 0;
}

/** Deno takes any file, so that the result would be an executable of another system, or the command line of Deno. */
async function problemOfBase(target: string | null): Promise<string | null> {
  const base = Deno.env.get("DENORT_BIN");
  if (!base) return null;
  const problem = await baseProblem(base, target ?? Deno.build.target);
  const needed = `"denort" of Deno ${Deno.version.deno} for ${target ?? "this machine"}`;
  return problem && `Cannot compile with this DENORT_BIN: ${problem}; set it to ${needed}`;
}

async function compile(target: string | null): Promise<boolean> {
  const output = join(DIST, target === null ? "switchyard" : `switchyard-${target}`);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    // Without the configuration of the repository, whose packages are in the bundle already.
    args: [
      ...["compile", "--quiet", "--no-config", "--no-npm", ...UNSTABLE, V8_OPTION, ...PERMISSIONS],
      ...["--include", BUNDLE, "--output", output],
      ...target === null ? [] : ["--target", target],
      join(BUNDLE, MAIN),
    ],
    env: NO_UPDATE_CHECK,
    stdout: "inherit",
    stderr: "piped",
  }).output();
  if (success && target === null && !await isOurs(output)) {
    await Deno.remove(output);
    console.error(`Cannot compile ${output}: the result does not start; expected a base that is "denort" of this Deno`);
    return false;
  }
  if (success) {
    console.log(`Compiled ${output}`);
    return true;
  }
  const message = new TextDecoder().decode(stderr).trim();
  console.error(
    MISSING_RUNTIME.test(message)
      ? `Cannot compile ${output}: the base runtime of Deno ${Deno.version.deno} could not be downloaded; ` +
        `download "denort" of that version on another machine and set DENORT_BIN to its path`
      : message,
  );
  return false;
}

async function isOurs(path: string): Promise<boolean> {
  const run = new Deno.Command(path, { args: ["--version"], stdin: "null", stdout: "piped", stderr: "null" });
  const { success, stdout } = await run.output().catch(() => ({ success: false, stdout: new Uint8Array() }));
  return success && new TextDecoder().decode(stdout).includes(`Deno ${Deno.version.deno})`);
}

if (import.meta.main) Deno.exit(await main(Deno.args));
