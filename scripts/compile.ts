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
import { BUNDLE, MAIN, writeBundle } from "./bundle.ts";
import { PERMISSIONS, UNSTABLE, V8_OPTION } from "./run_flags.ts";

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
  await writeBundle(BUNDLE);
  for (const each of target === "all" ? TARGETS : [target]) {
    if (!await compile(each)) return 1;
  }
  return 0;
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
    stdout: "inherit",
    stderr: "piped",
  }).output();
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

if (import.meta.main) Deno.exit(await main(Deno.args));
