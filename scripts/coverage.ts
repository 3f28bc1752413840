/**
 * Prints the coverage of `src` by folder, from what `deno task test:coverage` recorded in `cov/`. With `--write`, also
 * replaces the table in `docs/testing.md`.
 */
import { NO_UPDATE_CHECK } from "./run_flags.ts";

const RECORDED = "cov";
const PAGE = "docs/testing.md";
const MARKS = ["<!-- coverage: start -->", "<!-- coverage: end -->"] as const;

/** Lines and functions that ran, of those there are. */
interface Count {
  lines: number;
  linesHit: number;
  functions: number;
  functionsHit: number;
}

const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
  args: ["coverage", RECORDED, `--include=^file://${Deno.cwd()}/src/`, "--lcov"],
  env: NO_UPDATE_CHECK,
}).output();
if (!success) throw new Error(`"deno coverage" failed: ${new TextDecoder().decode(stderr)}`);

const table = tableOf(foldersIn(new TextDecoder().decode(stdout)));
console.log(table);
if (Deno.args.includes("--write")) await writePage(table);

/** A folder of a group, or a folder at the top that is none. Source: docs/decisions/0313-groups-of-folders.md. */
const FOLDER = /\/src\/((?:entry|money|observers|platform|services|threads|vendors)\/[^/]+|[^/]+)\//;

/** Reads LCOV: a record per file, with `LF` and `LH` for lines, `FNF` and `FNH` for functions. */
function foldersIn(lcov: string): Map<string, Count> {
  const folders = new Map<string, Count>();
  let count = newCount();
  for (const line of lcov.split("\n")) {
    const [, name = "", value = ""] = /^([A-Z]+):(.*)$/.exec(line) ?? [];
    if (name === "SF") {
      const folder = FOLDER.exec(value)?.[1] ?? "";
      count = folders.get(folder) ?? newCount();
      folders.set(folder, count);
    }
    if (name === "LF") count.lines += Number(value);
    if (name === "LH") count.linesHit += Number(value);
    if (name === "FNF") count.functions += Number(value);
    if (name === "FNH") count.functionsHit += Number(value);
  }
  return folders;
}

function newCount(): Count {
  return { lines: 0, linesHit: 0, functions: 0, functionsHit: 0 };
}

function tableOf(folders: ReadonlyMap<string, Count>): string {
  const all = newCount();
  for (const count of folders.values()) {
    all.lines += count.lines;
    all.linesHit += count.linesHit;
    all.functions += count.functions;
    all.functionsHit += count.functionsHit;
  }
  const rows = [...folders].sort(([one], [other]) => one < other ? -1 : 1)
    .map(([folder, count]) => [`\`src/${folder}\``, count] as const);
  const body = [...rows, ["all of `src`", all] as const].map(([name, count]) =>
    `| ${name} | ${count.lines} | ${percent(count.linesHit, count.lines)} | ${
      percent(count.functionsHit, count.functions)
    } |`
  );
  return ["| Folder | Lines | Lines covered | Functions covered |", "|---|--:|--:|--:|", ...body].join("\n");
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "–" : `${(100 * part / whole).toFixed(1)} %`;
}

async function writePage(written: string): Promise<void> {
  const page = await Deno.readTextFile(PAGE);
  const [start, end] = MARKS.map((mark) => page.indexOf(mark));
  if (start === undefined || end === undefined || start < 0 || end < start) {
    throw new Error(`Cannot write the table: "${PAGE}" lacks ${MARKS.join(" and ")}`);
  }
  await Deno.writeTextFile(PAGE, `${page.slice(0, start + MARKS[0].length)}\n\n${written}\n\n${page.slice(end)}`);
}
