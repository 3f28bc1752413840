/**
 * The benchmark: Switchyard, bare proxies and peers, on this machine, in one run. See `README.md`.
 *
 *     deno task bench              everything; writes bench/RESULTS.md
 *     deno task bench quick        about two minutes; prints a report with the main figures
 *
 * `--cases json,streams` runs only these cases and prints the report; `--contenders bare,node` chooses what Switchyard
 * is compared with; `--binary gomodel=PATH` supplies a peer's program; `--seconds N` and `--rounds N` change the
 * length; `--out FILE` writes the report there.
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { type BenchOptions, runBench } from "./bench.ts";
import { CASE_IDS, type CaseId } from "./cases.ts";
import { run } from "./child.ts";
import { PEER_IDS } from "./peers/peer.ts";
import { writeReport } from "./report/report.ts";
import type { RivalId } from "./servers.ts";
import { QUICK_STEPS, STEPS } from "./stream_steps.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS.md", import.meta.url));
const RIVALS: readonly RivalId[] = ["bare", "node", ...PEER_IDS];
const DEFAULT_RIVALS: readonly RivalId[] = ["bare", "node", "portkey"];
const QUICK_CASES: readonly CaseId[] = ["json", "latency", "bodies", "streams", "translation", "memory"];

/** The options of a run, and the file of the report; null prints it. */
export interface RunOptions extends BenchOptions {
  readonly out: string | null;
}

/** Reads the command line. Throws a `RangeError` or a `TypeError` when it cannot be read. */
export function runOptionsOf(args: readonly string[]): RunOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean" },
      out: { type: "string" },
      seconds: { type: "string" },
      rounds: { type: "string" },
      cases: { type: "string" },
      contenders: { type: "string" },
      binary: { type: "string", multiple: true },
    },
  });
  if (positionals.some((word) => word !== "quick")) throw new RangeError("expected no argument but quick");
  const quick = values.quick === true || positionals.includes("quick");
  const isWhole = !quick && values.cases === undefined;
  return {
    seconds: wholeNumber(values.seconds ?? (quick ? "1" : "3"), "seconds", 60),
    rounds: wholeNumber(values.rounds ?? (quick ? "1" : "5"), "rounds", 20),
    cases: new Set(listed(values.cases, "cases", CASE_IDS) ?? (quick ? QUICK_CASES : CASE_IDS)),
    skipped: quick ? ["translate_paced", "paced_200"] : [],
    rivals: listed(values.contenders, "contenders", RIVALS) ?? (quick ? ["bare"] : DEFAULT_RIVALS),
    binaries: new Map((values.binary ?? []).map(binaryOf)),
    steps: quick ? QUICK_STEPS : STEPS,
    waitsForMemory: !quick,
    out: values.out ?? (isWhole ? RESULTS : null),
  };
}

function wholeNumber(text: string, name: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new RangeError(`expected --${name} from 1 to ${max}, got "${text}"`);
}

/** A list of words with commas; null when the option is missing. */
function listed<Word extends string>(text: string | undefined, name: string, words: readonly Word[]): Word[] | null {
  if (text === undefined) return null;
  return text.split(",").map((part) => {
    const word = words.find((one) => one === part.trim().toLowerCase());
    if (word === undefined) throw new RangeError(`expected --${name} from ${words.join(", ")}, got "${part}"`);
    return word;
  });
}

function binaryOf(text: string): [string, string] {
  const [, id, path] = /^([a-z]+)=(.+)$/.exec(text) ?? [];
  if (id !== undefined && path !== undefined && PEER_IDS.some((peer) => peer === id)) return [id, path];
  throw new RangeError(`expected --binary PEER=PATH with a peer of ${PEER_IDS.join(", ")}, got "${text}"`);
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
