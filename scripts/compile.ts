/**
 * `deno task compile`: builds one executable at `dist/switchyard`. `deno compile` downloads the base runtime. Without
 * a network, set `DENORT_BIN` to a copy of `denort` of exactly the same Deno version.
 */

import { buildConsoleBundle, writeConsoleBundle } from "../src/console/bundle.ts";

const OUTPUT = "dist/switchyard";

/** What the gateway needs at run time: sockets, files at configured paths, the environment and the machine's limits. */
const PERMISSIONS = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-sys=uid,statfs,systemMemoryInfo",
];

/** The options of V8 of `deno task start`. Source: docs/decisions/0061-memory-after-load.md. */
export const V8_OPTION = "--v8-flags=--memory-reducer-delay-ms=30000";

/** Entry modules of threads. No module imports them, so `deno compile` does not find them by itself. */
const THREAD_MODULES = [
  "src/store/journal/journal_entry.ts",
  "src/request_log/sqlite/log_entry.ts",
  "src/workers/media_entry.ts",
  "src/workers/token_entry.ts",
  "src/app/large_request_thread.ts",
];

/** Signs in the output of `deno compile` that the base runtime is missing. */
const MISSING_RUNTIME = /denort|download|dl\.deno\.land|base binary|error sending request/i;

async function compile(): Promise<number> {
  await writeConsoleBundle(await buildConsoleBundle());
  const includes = [...THREAD_MODULES, "dist/console"].flatMap((path) => ["--include", path]);
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["compile", "--quiet", V8_OPTION, ...PERMISSIONS, ...includes, "--output", OUTPUT, "main.ts"],
    stdout: "inherit",
    stderr: "piped",
  }).output();
  if (code === 0) {
    console.log(`Compiled ${OUTPUT}`);
    return 0;
  }
  const message = new TextDecoder().decode(stderr).trim();
  console.error(
    MISSING_RUNTIME.test(message)
      ? `Cannot compile ${OUTPUT}: the base runtime of Deno ${Deno.version.deno} could not be downloaded; ` +
        `download "denort" of that version on another machine and set DENORT_BIN to its path`
      : message,
  );
  return 1;
}

if (import.meta.main) Deno.exit(await compile());
