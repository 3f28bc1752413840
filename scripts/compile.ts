/**
 * `deno task compile`: one executable at `dist/switchyard`. The base runtime is fetched by `deno compile` itself; where
 * that cannot be, `DENORT_BIN` names one that was fetched before, of the very same version.
 */

const OUTPUT = "dist/switchyard";

/**
 * Everything that a gateway may do: listen and connect, read and write where its configuration says, see the
 * environment.
 */
const PERMISSIONS = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-sys=uid,statfs,systemMemoryInfo",
];

/** Modules that run in threads: nothing imports them. */
const THREADS = ["src/workers/media_entry.ts", "src/workers/token_entry.ts", "src/app/large_request_thread.ts"].flatMap(
  (
    path,
  ) => ["--include", path],
);

async function compile(): Promise<number> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["compile", "--quiet", ...PERMISSIONS, ...THREADS, "--output", OUTPUT, "main.ts"],
    stdout: "inherit",
    stderr: "piped",
  }).output();
  if (code === 0) {
    console.log(`Made ${OUTPUT}`);
    return 0;
  }
  const said = new TextDecoder().decode(stderr).trim();
  const isMissing = /denort|download|dl\.deno\.land|base binary|error sending request/i.test(said);
  console.error(
    isMissing
      ? `Cannot make ${OUTPUT}: the base runtime of Deno ${Deno.version.deno} could not be downloaded; fetch "denort" of that version elsewhere and name it in DENORT_BIN`
      : said,
  );
  return 1;
}

if (import.meta.main) Deno.exit(await compile());
