import { atLeast } from "../support/items.ts";
import { alignedTable, wrappedParagraph } from "../support/markdown.ts";
import { FAMILIES, type FamilyName, type ScenarioName, SCENARIOS } from "./program.ts";
import type { FamilyResult, ProgramResult } from "./results.ts";

const PAGE = new URL("../../docs/clients.md", import.meta.url);

/**
 * Writes a table of the page, between its two marks.
 *
 * @param name What the marks are called.
 * @throws {Error} If the page lacks a mark.
 */
export async function writeTable(name: "clients" | "batches", table: string): Promise<void> {
  const [first, last] = [`<!-- ${name}: begin (written by \`deno task clients\`) -->`, `<!-- ${name}: end -->`];
  const page = await Deno.readTextFile(PAGE);
  const [begin, end] = [page.indexOf(first), page.indexOf(last)];
  if (begin < 0 || end < begin) throw new Error(`docs/clients.md lacks "${first}" or "${last}"`);
  await Deno.writeTextFile(PAGE, `${page.slice(0, begin)}${first}\n\n${table}\n\n${page.slice(end)}`);
}

/** The table with the notes that it refers to. */
export function tableOf(results: readonly ProgramResult[]): string {
  const notes = new Notes();
  const scenarios = Object.keys(SCENARIOS) as ScenarioName[];
  const rows = results.flatMap((result) => rowsOf(result, scenarios, notes));
  const table = alignedTable([["Client", "Version", "Vendor", ...scenarios, "dropped"], ...rows]);
  const lines = notes.all.flatMap((note, at) => wrappedParagraph(note, `${at + 1}. `));
  return [table, ...(lines.length === 0 ? [] : [lines])].map((block) => block.join("\n")).join("\n\n");
}

function rowsOf(result: ProgramResult, scenarios: readonly ScenarioName[], notes: Notes): string[][] {
  const { name, version } = result;
  if (result.notRun !== null) {
    return [[name, version, "–", ...scenarios.map(() => "not run"), notes.mark(`Not run: ${result.notRun}`)]];
  }
  return (Object.keys(FAMILIES) as FamilyName[]).flatMap((family) => {
    const found = result.families[family];
    return found ? [[name, version, family, ...cellsOf(found, scenarios, notes)]] : [];
  });
}

function cellsOf({ cells, dropped }: FamilyResult, scenarios: readonly ScenarioName[], notes: Notes): string[] {
  const marks = scenarios.map((scenario) => {
    const [, kind, reason] = atLeast(/^(\w+)(?:: ([^]*))?$/.exec(cells[scenario])!, 3);
    if (kind === "yes") return "yes";
    return `${kind === "none" ? "–" : "no"} ${notes.mark(reason)}`;
  });
  const names = dropped.map((name) => `\`${name}\``).join(", ");
  return [...marks, names === "" ? "–" : notes.mark(`Dropped: ${names}.`)];
}

/** Numbered texts below the table; equal ones share a number. */
class Notes {
  readonly all: string[] = [];

  mark(text: string): string {
    const clean = text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
    if (!this.all.includes(clean)) this.all.push(clean);
    return `(${this.all.indexOf(clean) + 1})`;
  }
}
