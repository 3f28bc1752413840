import { elementAt } from "../src/platform/lib/collections/element_at.ts";
import { type Scenario, type ScenarioId, SCENARIOS } from "./cases.ts";
import type { Contender, ContenderId } from "./contenders.ts";
import type { Generators } from "./generator.ts";
import type { LoadResult } from "./load.ts";
import { CHUNKS, type Mode } from "./load_request.ts";
import { PEER_IDS } from "./peers/peer.ts";
import { processState } from "./process_state.ts";
import { shuffled } from "./shuffled.ts";
import { type Range, rangeOf } from "./statistics.ts";

/** The result of one contender under one load. */
export interface ContenderResult extends LoadResult {
  readonly repliesPerSecond: number;
  /** The server's processor time per reply, in microseconds; null without a server or without `/proc`. */
  readonly cpuUsPerReply: number | null;
}

/** Reads a figure of a run; nothing where the run has none. */
export type Reading = (run: ContenderResult) => number | null | undefined;

/** Replies per second. */
export const repliesPerSecond: Reading = (run) => run.repliesPerSecond;
/** Processor microseconds per reply. */
export const cpuUsPerReply: Reading = (run) => run.cpuUsPerReply;
/** Processor microseconds per chunk of a paced stream. */
export const cpuUsPerChunk: Reading = (run) => run.cpuUsPerReply === null ? null : run.cpuUsPerReply / CHUNKS.paced;
/** The median time of a reply, in milliseconds. */
export const p50Ms: Reading = (run) => run.wholeMs?.p50;
/** The 99th percentile of the time of a reply, in milliseconds. */
export const p99Ms: Reading = (run) => run.wholeMs?.p99;

/** The median time from the upstream's write of a chunk to its arrival, in milliseconds. */
export const oneWayP50Ms: Reading = (run) => run.oneWayMs?.p50;
/** The 99th percentile of that time, in milliseconds. */
export const oneWayP99Ms: Reading = (run) => run.oneWayMs?.p99;

/** All measurements: for each contender and load, a run per round; nothing where the contender cannot take part. */
export class Figures {
  readonly #runs = new Map<string, ContenderResult[]>();

  add(contender: ContenderId, scenario: ScenarioId, measured: ContenderResult): void {
    this.#runs.getOrInsertComputed(`${contender}/${scenario}`, () => []).push(measured);
  }

  /** All runs, in the order of rounds. */
  runs(contender: ContenderId, scenario: ScenarioId): readonly ContenderResult[] {
    return this.#runs.get(`${contender}/${scenario}`) ?? [];
  }

  /** The median and the range over the rounds; null without runs. */
  range(contender: ContenderId, scenario: ScenarioId, of: Reading): Range | null {
    return rangeOf(this.runs(contender, scenario).map(of).filter((value) => value !== null && value !== undefined));
  }

  /** The median over the rounds; null without runs. */
  median(contender: ContenderId, scenario: ScenarioId, of: Reading): number | null {
    return this.range(contender, scenario, of)?.median ?? null;
  }

  /**
   * A figure of a contender for each of another: the range of the ratios within each round. A contender that has fewer
   * rounds takes its last one for the rest.
   */
  ratio(contender: ContenderId, base: ContenderId, scenario: ScenarioId, of: Reading): Range | null {
    return this.#compared(contender, base, scenario, of, (own, other) => own / other);
  }

  /** A figure of a contender minus that of another: the range of the differences within each round. */
  difference(contender: ContenderId, base: ContenderId, scenario: ScenarioId, of: Reading): Range | null {
    return this.#compared(contender, base, scenario, of, (own, other) => own - other);
  }

  #compared(
    contender: ContenderId,
    base: ContenderId,
    scenario: ScenarioId,
    of: Reading,
    compare: (own: number, other: number) => number,
  ): Range | null {
    const others = this.runs(base, scenario);
    if (others.length === 0) return null;
    const values = this.runs(contender, scenario).map((run, round) => {
      const [own, other] = [of(run), of(elementAt(others, Math.min(round, others.length - 1)))];
      return own === null || own === undefined || other === null || other === undefined ? null : compare(own, other);
    });
    return rangeOf(values.filter((value) => value !== null));
  }

  /** Failed requests of a contender. */
  failuresOf(contender: ContenderId): number {
    const runs = SCENARIOS.flatMap(({ id }) => this.runs(contender, id));
    return runs.reduce((sum, { failures }) => sum + failures, 0);
  }
}

/** Options of a contest. */
export interface ContestOptions {
  readonly rounds: number;
  /** Whole seconds of each run. */
  readonly seconds: number;
  readonly generators: Generators;
  /** Why contenders cannot take part under a load, by `contender/mode`. A peer that fails under load is added. */
  readonly faults: Map<string, string>;
  readonly onProgress: (line: string) => void;
}

/** Contenders by the kind of a scenario. */
export type Fields = Readonly<Record<Scenario["contenders"], readonly Contender[]>>;

/**
 * Runs loads over their contenders in turn, round after round, in another order in each round, so that changes of the
 * machine's speed affect all alike. Without a proxy only the limit of upstream and generator is measured, for which one
 * round is enough; latency is compared with it, so there it has all.
 */
export async function runContest(
  scenarios: readonly Scenario[],
  fields: Fields,
  options: ContestOptions,
): Promise<Figures> {
  const figures = new Figures();
  for (const scenario of scenarios) {
    for (let round = 1; round <= roundsOf(scenario, options); round++) {
      options.onProgress(`${scenario.id}: round ${round} of ${roundsOf(scenario, options)}`);
      for (const contender of shuffled(fields[scenario.contenders])) {
        if (contender.id === "direct" && round > 1 && scenario.load.kind !== "rate") continue;
        const result = await unlessFaulty(
          contender,
          scenario.mode,
          options,
          () => measure(contender, scenario, options),
        );
        if (result !== null) figures.add(contender.id, scenario.id, result);
      }
    }
  }
  return figures;
}

/**
 * Measures a contender that takes part in a mode; null if it does not. A peer that fails under load takes no part in
 * that mode from then on, and the others are measured all the same.
 */
export async function unlessFaulty<Measured>(
  { id }: Contender,
  mode: Mode,
  { faults }: Pick<ContestOptions, "faults">,
  measured: () => Promise<Measured>,
): Promise<Measured | null> {
  if (faults.has(`${id}/${mode}`)) return null;
  try {
    return await measured();
  } catch (error) {
    if (!isPeer(id)) throw error;
    faults.set(`${id}/${mode}`, `failed under load: ${String(error).split("\n", 1)[0]}`);
    return null;
  }
}

/** Whether a contender is another gateway, which may fail. */
export function isPeer(id: ContenderId): boolean {
  return PEER_IDS.some((peer) => peer === id);
}

function roundsOf({ maxRounds = Infinity }: Scenario, { rounds }: ContestOptions): number {
  return Math.min(rounds, maxRounds);
}

/** Seconds until the gaps of paced streams count, and some more to have enough of them. */
const MIN_STREAM_SECONDS = 3;

/** Measures one run. Paced streams run for at least three seconds. */
export async function measure(
  { id, server, ask }: Contender,
  { mode, bodyBytes, connections, load }: Pick<Scenario, "mode" | "bodyBytes" | "connections" | "load">,
  { seconds, generators }: Pick<ContestOptions, "seconds" | "generators">,
): Promise<ContenderResult> {
  const generator = load.kind === "closed" ? generators.closed : generators.timed;
  const before = server && await processState(server.pid);
  const request = ask(mode, bodyBytes);
  const duration = load.kind === "streams" ? Math.max(seconds, MIN_STREAM_SECONDS) : seconds;
  const result = await generator.run({ request, load, connections, seconds: duration });
  const after = server && await processState(server.pid);
  if (server !== null && isPeer(id)) await untilIdle(server.pid);
  return {
    ...result,
    repliesPerSecond: result.replies / result.elapsedMs * 1000,
    cpuUsPerReply: before && after && result.replies > 0 ? (after.cpuMs - before.cpuMs) * 1000 / result.replies : null,
  };
}

const IDLE_STEP_MS = 250;
/** A fifth of a core: what garbage collections and logs may take. */
const IDLE_CPU_MS = 50;
const MAX_IDLE_STEPS = 80;

/**
 * Waits until a server has worked off what its generator left behind, for at most 20 seconds: it would take the next
 * contender's core.
 */
async function untilIdle(pid: number): Promise<void> {
  let before = await processState(pid);
  for (let step = 0; before !== null && step < MAX_IDLE_STEPS; step++) {
    await new Promise((resolve) => setTimeout(resolve, IDLE_STEP_MS));
    const now = await processState(pid);
    if (now !== null && now.cpuMs - before.cpuMs <= IDLE_CPU_MS) return;
    before = now;
  }
}
