import { type ClientProgram, FAMILIES, type FamilyName, type ScenarioName, SCENARIOS } from "./program.ts";

/** `yes`, `no: <why>`, or `none: <why>` where the program has no such thing. */
export type Cell = string;

/** What a program came to with one family. */
export interface FamilyResult {
  readonly cells: Readonly<Record<ScenarioName, Cell>>;
  /** Fields of requests that the gateway named as dropped, sorted. */
  readonly dropped: readonly string[];
}

/** What a program came to. */
export interface ProgramResult {
  readonly name: string;
  readonly version: string;
  /** Why nothing was run, null where it was. */
  readonly notRun: string | null;
  readonly families: Readonly<Partial<Record<FamilyName, FamilyResult>>>;
}

const FOLDER = new URL("./results/", import.meta.url);

/** Names a file after a program. */
export function fileNameOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_|_$/g, "");
}

/** Keeps a result: the page's table is made from those that are kept. */
export async function writeResult(result: ProgramResult): Promise<void> {
  await Deno.mkdir(FOLDER, { recursive: true });
  const text = JSON.stringify(result, null, 2) + "\n";
  await Deno.writeTextFile(new URL(`${fileNameOf(result.name)}.json`, FOLDER), text);
}

/** The kept result of a program, null where there is none. */
export async function readResult(name: string): Promise<ProgramResult | null> {
  const text = await Deno.readTextFile(new URL(`${fileNameOf(name)}.json`, FOLDER)).catch(() => null);
  return text === null ? null : JSON.parse(text);
}

/**
 * Where a run differs from what is kept. The words of a failure are not compared, only that there is one.
 *
 * @returns A line for each difference.
 */
export function differences(kept: ProgramResult | null, found: ProgramResult): string[] {
  if (kept === null) return [`${found.name}: nothing is kept`];
  if (found.notRun !== null) return kept.notRun === null ? [`${found.name}: not run: ${found.notRun}`] : [];
  const families = Object.keys(FAMILIES) as FamilyName[];
  return families.flatMap((family) =>
    (Object.keys(SCENARIOS) as ScenarioName[]).flatMap((scenario) => {
      const was = kept.families[family]?.cells[scenario] ?? "nothing";
      const is = found.families[family]?.cells[scenario] ?? "nothing";
      const kind = (cell: Cell) => cell.split(":")[0];
      return kind(was) === kind(is) ? [] : [`${found.name}, ${family}, ${scenario}: kept "${was}", found "${is}"`];
    })
  );
}

/** The result of a program that cannot be run here. */
export function notRun({ name, version }: ClientProgram, reason: string): ProgramResult {
  return { name, version, notRun: reason, families: {} };
}
