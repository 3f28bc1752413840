/**
 * The benchmark: Switchyard beside a bare proxy and a peer, on this machine, in one run. See `README.md`.
 *
 *     deno task bench                 everything; writes bench/RESULTS.md
 *     deno task bench quick           one round of one-second runs, no peer, no search for the most streams; prints the
 *     report deno task bench --out FILE      writes the report there; --seconds N and --rounds N change the length
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { run } from "./child.ts";
import { type BenchOptions, runBench } from "./bench.ts";
import { writeReport } from "./report.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS.md", import.meta.url));

/** What to do, and where the report goes; null prints it. */
interface Wishes extends BenchOptions {
  readonly out: string | null;
}

function wishesOf(args: readonly string[]): Wishes {
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
  if (positionals.some((word) => word !== "quick")) throw new RangeError("expected no other word than quick");
  const quick = values.quick === true || positionals.includes("quick");
  return {
    seconds: wholeNumber(values.seconds ?? (quick ? "1" : "3"), "seconds", 60),
    rounds: wholeNumber(values.rounds ?? (quick ? "1" : "3"), "rounds", 20),
    withPeer: !quick,
    withCapacity: !quick,
    out: values.out ?? (quick ? null : RESULTS),
  };
}

function wholeNumber(text: string, name: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(`expected --${name} from 1 to ${most}, got "${text}"`);
}

async function main(args: readonly string[]): Promise<number> {
  let wishes: Wishes;
  try {
    wishes = wishesOf(args);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    return 2;
  }
  const report = writeReport(await runBench(wishes, (line) => console.error(line)));
  if (wishes.out === null) {
    console.log(report);
  } else {
    await Deno.writeTextFile(wishes.out, report);
    await run([Deno.execPath(), "fmt", "--quiet", wishes.out], { timeoutMs: 30_000 });
    console.error(`written: ${wishes.out}`);
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
