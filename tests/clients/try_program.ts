import { join } from "node:path";
import { itemAt } from "../support/items.ts";
import type { ClientsGateway } from "./gateway.ts";
import type { Cache } from "./install.ts";
import {
  type ClientProgram,
  FAMILIES,
  type FamilyName,
  type Scenario,
  type ScenarioName,
  SCENARIOS,
} from "./program.ts";
import { type Cell, type FamilyResult, fileNameOf, notRun, type ProgramResult } from "./results.ts";
import { type OpenSession, openSession } from "./session.ts";

/** The context of a run. */
export interface TryContext {
  readonly cache: Cache;
  readonly gateway: ClientsGateway;
  /** Keeps the requests and output of passed scenarios, too. */
  readonly keepsLogs: boolean;
  /** Called with each cell as it is found. */
  readonly report: (line: string) => void;
}

/**
 * Installs a program and runs all of its scenarios with all families. The requests and output of a failed scenario are
 * kept in `<cache>/logs/<program>/<family>-<scenario>.json`.
 */
export async function tryProgram(program: ClientProgram, context: TryContext): Promise<ProgramResult> {
  const { name, version } = program;
  try {
    await program.install(context.cache);
  } catch (error) {
    context.report(`${name}: cannot be installed: ${(error as Error).message}`);
    return notRun(program, firstLine(error));
  }
  const families: Partial<Record<FamilyName, FamilyResult>> = {};
  for (const family of Object.keys(FAMILIES) as FamilyName[]) {
    families[family] = await tryFamily(program, family, context);
  }
  await program.close?.();
  return { name, version, notRun: null, families };
}

async function tryFamily(program: ClientProgram, family: FamilyName, context: TryContext): Promise<FamilyResult> {
  const cells: Partial<Record<ScenarioName, Cell>> = {};
  const dropped = new Set<string>();
  for (const scenario of Object.keys(SCENARIOS) as ScenarioName[]) {
    const attempt = program.scenarios[scenario];
    if (typeof attempt === "string") {
      cells[scenario] = `none: ${attempt}`;
      continue;
    }
    const startedAt = Date.now();
    const cell = await tryCell(program, { family, scenario, attempt, dropped }, context);
    cells[scenario] = cell;
    context.report(
      `${program.name}, ${family}, ${scenario}: ${cell} (${Math.round((Date.now() - startedAt) / 100) / 10} s)`,
    );
  }
  return { cells: cells as Record<ScenarioName, Cell>, dropped: [...dropped].sort() };
}

interface CellTry {
  readonly family: FamilyName;
  readonly scenario: ScenarioName;
  readonly attempt: Scenario;
  /** Receives the names of dropped fields. */
  readonly dropped: Set<string>;
}

async function tryCell(
  { name }: ClientProgram,
  tried: CellTry,
  { cache, gateway, keepsLogs, report }: TryContext,
): Promise<Cell> {
  const session = await openSession(gateway, cache, tried.family);
  const log = join(cache.folder, "logs", fileNameOf(name), `${tried.family}-${fileNameOf(tried.scenario)}.json`);
  try {
    await tried.attempt(session);
    if (keepsLogs) await writeLog(log, session, null);
    else await Deno.remove(log).catch(() => {});
    if (tried.scenario !== "error") reportRefusals(session, report);
    return "yes";
  } catch (error) {
    await writeLog(log, session, error);
    return `no: ${firstLine(error)}`;
  } finally {
    for (const { responseHeaders } of session.exchanges) {
      const names = responseHeaders["x-service-dropped"] ?? "";
      for (const field of names.split(",")) if (field.trim() !== "") tried.dropped.add(field.trim());
    }
    await session.close();
  }
}

/** A program may continue silently after a refusal, so refusals of its side requests are reported too. */
function reportRefusals({ exchanges }: OpenSession, report: (line: string) => void): void {
  for (const { method, path, status, responseBody } of exchanges) {
    if (status >= 400) report(`  refused: ${method} ${path} ${status} ${responseBody.slice(0, 300)}`);
  }
}

async function writeLog(path: string, { runs, exchanges }: OpenSession, error: unknown): Promise<void> {
  await Deno.mkdir(join(path, ".."), { recursive: true });
  await Deno.writeTextFile(path, JSON.stringify({ error: error && String(error), runs, exchanges }, null, 2));
}

function firstLine(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return itemAt(words.split("\n"), 0).slice(0, 240);
}
