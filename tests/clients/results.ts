import { type ClientProgram, FAMILIES, type FamilyName, type ScenarioName, SCENARIOS } from "./program.ts";

/** `yes`, `no: <why>`, or `none: <why>` where the program does not support it. */
export type Cell = string;

/** The results of a program with one family. */
export interface FamilyResult {
  readonly cells: Readonly<Record<ScenarioName, Cell>>;
  /** Request fields that the gateway reported as dropped, sorted. */
  readonly dropped: readonly string[];
}

/** The results of a program. */
export interface ProgramResult {
  readonly name: string;
  readonly version: string;
  /** Why nothing was run; null where it was. */
  readonly notRun: string | null;
  readonly families: Readonly<Partial<Record<FamilyName, FamilyResult>>>;
}

const FOLDER = new URL("./results/", import.meta.url);

/** The file name for a program. */
export function fileNameOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_|_$/g, "");
}

/** Writes a result to its file; the page's table is made from these files. */
export async function writeResult(result: ProgramResult): Promise<void> {
  await Deno.mkdir(FOLDER, { recursive: true });
  const text = JSON.stringify(result, null, 2) + "\n";
  await Deno.writeTextFile(new URL(`${fileNameOf(result.name)}.json`, FOLDER), text);
}

/** Reads the stored result of a program; null where there is none. */
export async function readResult(name: string): Promise<ProgramResult | null> {
  const text = await Deno.readTextFile(new URL(`${fileNameOf(name)}.json`, FOLDER)).catch(() => null);
  return text === null ? null : JSON.parse(text);
}

/**
 * The differences between a run and the stored result. The message of a failure is not compared, only that there is
 * one.
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
