import { elementAt } from "../src/lib/element_at.ts";
import type { Mode } from "./load_request.ts";
import type { Contender, ContenderId } from "./contenders.ts";
import type { Generator } from "./generator.ts";
import type { LoadResult } from "./load.ts";
import { processState } from "./process_state.ts";
import { medianOf } from "./statistics.ts";

/** A kind of load on the contenders. */
export interface Scenario {
  readonly id: ScenarioId;
  readonly mode: Mode;
  readonly connections: number;
  /** Whether the generator must parse the replies. */
  readonly looksInside: boolean;
}

/** Short names of the kinds of load. */
export type ScenarioId = "json_1" | "json_32" | "json_128" | "burst" | "brief" | "paced";

/** All kinds of load. */
export const SCENARIOS: readonly Scenario[] = [
  { id: "json_1", mode: "json", connections: 1, looksInside: false },
  { id: "json_32", mode: "json", connections: 32, looksInside: false },
  { id: "json_128", mode: "json", connections: 128, looksInside: false },
  { id: "burst", mode: "burst", connections: 16, looksInside: false },
  { id: "brief", mode: "brief", connections: 1, looksInside: true },
  { id: "paced", mode: "paced", connections: 40, looksInside: true },
];

/** The result of one contender under one load. */
export interface ContenderResult extends LoadResult {
  readonly repliesPerSecond: number;
  /** The server's processor time per reply, in milliseconds; null without a server or without `/proc`. */
  readonly cpuMsPerReply: number | null;
}

/** The load generators. */
export interface Generators {
  readonly own: Generator;
  /** Null where `wrk` is not installed. */
  readonly wrk: Generator | null;
}

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

  /** The median over the rounds; null without runs. */
  median(
    contender: ContenderId,
    scenario: ScenarioId,
    of: (run: ContenderResult) => number | null | undefined,
  ): number | null {
    return medianOf(this.runs(contender, scenario).map(of).filter((value) => value !== null && value !== undefined));
  }

  /** Replies of a contender for each reply of the bare proxy: the median of the ratios within each round. */
  ratioToBare(contender: ContenderId, scenario: ScenarioId): number | null {
    const bare = this.runs("bare", scenario);
    const ratios = this.runs(contender, scenario).map((run, round) =>
      run.repliesPerSecond / elementAt(bare, round).repliesPerSecond
    );
    return medianOf(ratios);
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
  /** Contenders that cannot take part under a load, as `contender/mode`. */
  readonly faults: ReadonlyMap<string, string>;
  readonly onProgress: (line: string) => void;
}

/**
 * Runs every load over all contenders in turn, round after round, so that changes of the machine's speed affect all
 * alike.
 */
export async function runContest(contenders: readonly Contender[], options: ContestOptions): Promise<Figures> {
  const figures = new Figures();
  for (let round = 1; round <= options.rounds; round++) {
    for (const scenario of SCENARIOS) {
      options.onProgress(`round ${round} of ${options.rounds}, ${scenario.id}`);
      for (const contender of contenders) {
        if (options.faults.has(`${contender.id}/${scenario.mode}`)) continue;
        figures.add(contender.id, scenario.id, await measure(contender, scenario, options));
      }
    }
  }
  return figures;
}

/** Measures one run. */
export async function measure(
  { server, ask }: Contender,
  { mode, connections, looksInside }: Pick<Scenario, "mode" | "connections" | "looksInside">,
  { seconds, generators }: Pick<ContestOptions, "seconds" | "generators">,
): Promise<ContenderResult> {
  const generator = looksInside ? generators.own : generators.wrk ?? generators.own;
  const before = server && await processState(server.pid);
  const result = await generator.run({ request: ask(mode), connections, seconds });
  const after = server && await processState(server.pid);
  return {
    ...result,
    repliesPerSecond: result.replies / result.elapsedMs * 1000,
    cpuMsPerReply: before && after && result.replies > 0 ? (after.cpuMs - before.cpuMs) / result.replies : null,
  };
}
