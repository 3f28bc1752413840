/**
 * The benchmark: Switchyard, a bare proxy and a peer, on this machine, in one run. See `README.md`.
 *
 *     deno task bench              everything; writes bench/RESULTS.md
 *     deno task bench quick        one round of one-second runs without the peer and without the search for the maximum
 *                                  number of streams; prints the report
 *     deno task bench --out FILE   writes the report there; --seconds N and --rounds N change the length
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { run } from "./child.ts";
import { type BenchOptions, runBench } from "./bench.ts";
import { writeReport } from "./report.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS.md", import.meta.url));

/** The options of a run, and the file of the report; null prints it. */
interface RunOptions extends BenchOptions {
  readonly out: string | null;
}

function runOptionsOf(args: readonly string[]): RunOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean" },
      out: { type: "string" },
      seconds: { type: "string" },
      rounds: { type: "string" },
    },
  });
  if (positionals.some((word) => word !== "quick")) throw new RangeError("expected no argument but quick");
  const quick = values.quick === true || positionals.includes("quick");
  return {
    seconds: wholeNumber(values.seconds ?? (quick ? "1" : "3"), "seconds", 60),
    rounds: wholeNumber(values.rounds ?? (quick ? "1" : "3"), "rounds", 20),
    withPeer: !quick,
    withCapacity: !quick,
    out: values.out ?? (quick ? null : RESULTS),
  };
}

function wholeNumber(text: string, name: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new RangeError(`expected --${name} from 1 to ${max}, got "${text}"`);
}

async function main(args: readonly string[]): Promise<number> {
  let runOptions: RunOptions;
  try {
    runOptions = runOptionsOf(args);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    return 2;
  }
  const report = writeReport(await runBench(runOptions, (line) => console.error(line)));
  if (runOptions.out === null) {
    console.log(report);
  } else {
    await Deno.writeTextFile(runOptions.out, report);
    await run([Deno.execPath(), "fmt", "--quiet", runOptions.out], { timeoutMs: 30_000 });
    console.error(`written: ${runOptions.out}`);
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
