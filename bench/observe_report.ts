import { CHUNKS } from "./load_request.ts";
import type { Machine } from "./machine.ts";
import { figure, table } from "./markdown.ts";
import { type Interval, intervalOf, medianOf } from "./statistics.ts";

/** A gateway with a part of what observes requests. */
export type VariantId = "off" | "again" | "metrics" | "log" | "both";

/** All of them. `off` and `again` are the same. */
export const VARIANTS: readonly {
  readonly id: VariantId;
  readonly title: string;
  readonly countsRequests: boolean;
  readonly logsRequests: boolean;
}[] = [
  { id: "off", title: "neither", countsRequests: false, logsRequests: false },
  { id: "again", title: "neither, of the other one with neither", countsRequests: false, logsRequests: false },
  { id: "metrics", title: "metrics", countsRequests: true, logsRequests: false },
  { id: "log", title: "request log", countsRequests: false, logsRequests: true },
  { id: "both", title: "metrics and request log", countsRequests: true, logsRequests: true },
];

/** The loads: JSON of 1 KB, and paced streams. */
export type LoadId = "json" | "paced";

const LOAD_TITLES: Readonly<Record<LoadId, string>> = {
  json: "JSON of 1 KB, a request",
  paced: "Paced stream, a chunk",
};

/** What the processor time of a reply is divided by. */
const UNITS: Readonly<Record<LoadId, number>> = { json: 1, paced: CHUNKS.paced };

/** Microseconds of processor time for a reply. */
export interface ReplyCost {
  /** Of all threads. */
  readonly allUs: number;
  /** Of the main thread, which handles all requests. */
  readonly mainUs: number;
}

/** Where a measurement belongs. */
export interface MeasuredPlace {
  readonly load: LoadId;
  readonly variant: VariantId;
  /** From 1: the gateways of one start are other processes than those of the next. */
  readonly start: number;
}

/** All measurements. The n-th one of each gateway of a start belongs to the n-th round. */
export class ObserveFigures {
  readonly #costs = new Map<string, ReplyCost[]>();
  readonly #starts = new Set<number>();

  /** Adds what a gateway needed in the next round. */
  add({ load, variant, start }: MeasuredPlace, cost: ReplyCost): void {
    this.#starts.add(start);
    this.#costs.getOrInsertComputed(`${load}/${variant}/${start}`, () => []).push(cost);
  }

  /** What a gateway needed in each round. */
  costs(load: LoadId, variant: VariantId): ReplyCost[] {
    return [...this.#starts].flatMap((start) => this.#of(load, variant, start));
  }

  /**
   * Processor time relative to the mean of both gateways with neither in the same round; that of `again` relative to
   * `off`. The interval considers that the rounds of one start are of the same processes.
   */
  ratio(load: LoadId, variant: VariantId, of: keyof ReplyCost, random?: () => number): Interval | null {
    const groups = [...this.#starts].map((start) => {
      const [off, again] = [this.#of(load, "off", start), this.#of(load, "again", start)];
      return this.#of(load, variant, start).flatMap((own, round) => {
        const [one, other] = [off[round], again[round]];
        if (one === undefined || other === undefined) return [];
        return [own[of] / (variant === "again" ? one[of] : (one[of] + other[of]) / 2)];
      });
    });
    return intervalOf(groups, random);
  }

  #of(load: LoadId, variant: VariantId, start: number): readonly ReplyCost[] {
    return this.#costs.get(`${load}/${variant}/${start}`) ?? [];
  }
}

/** Whether an interval is within a bound. */
export type Verdict = "met" | "**missed**" | "not decided";

/** A bound is met or missed only if the whole interval is on one side of it. */
export function verdictOf({ low, high }: Interval, max: number): Verdict {
  if (high <= max) return "met";
  return low > max ? "**missed**" : "not decided";
}

/** What metrics and the log may cost together. */
const MAX_CPU = 1.08;
/** A main thread that is always busy answers 5 % fewer requests if each takes so much more of it. */
const MAX_LOG_MAIN = 1 / 0.95;

const MARKS: readonly {
  readonly title: string;
  readonly load: LoadId;
  readonly variant: VariantId;
  readonly of: keyof ReplyCost;
  readonly max: number;
}[] = [
  { title: "JSON of 1 KB, metrics and request log", load: "json", variant: "both", of: "allUs", max: MAX_CPU },
  { title: "JSON of 1 KB, request log, main thread", load: "json", variant: "log", of: "mainUs", max: MAX_LOG_MAIN },
  { title: "Paced streams, metrics and request log", load: "paced", variant: "both", of: "allUs", max: MAX_CPU },
];

/** What a report is written from. */
export interface ObserveOutcome {
  readonly figures: ObserveFigures;
  readonly machine: Machine;
  readonly date: Date;
  readonly starts: number;
  /** Of a round. */
  readonly seconds: number;
}

/** Writes the report in Markdown. */
export function observeReport({ figures, machine, date, starts, seconds }: ObserveOutcome): string {
  const marks = MARKS.map(({ title, load, variant, of, max }) => {
    const ratio = figures.ratio(load, variant, of);
    const verdict = ratio === null ? "not measured" : verdictOf(ratio, max);
    return [title, `at most ${figure(max, 3)} ×`, ratioText(ratio), verdict];
  });
  return `# Results: metrics and request log

Processor time of a request with both, one and neither, on ${
    date.toISOString().slice(0, 10)
  }: ${machine.cpu}, ${machine.cores} cores,
${machine.system}, Deno ${machine.deno}.

Five gateways had a core in turns of ${seconds} s, in ${figures.costs("json", "off").length} rounds of JSON and
${
    figures.costs("paced", "off").length
  } of streams, after ${starts} starts. A ratio is one of the same round, to the mean
of the two gateways with neither. Shown are the median and, in parentheses, its interval of 95 % confidence, by a
bootstrap over starts and rounds. A target is met or missed if the whole interval is on one side of it. Processor time is
that of all threads and of the kernel for them, until 0.7 s after the last reply, so that it has the rows that are
written later.

${table(["Processor time, of neither", "Target", "Measured", "Result"], marks)}

${table(["", "CPU µs", "of neither", "Main thread, of neither"], rowsOf(figures))}

The second line of each load compares the same program with itself: its difference from 1 is the error of the
measurement. The main thread handles all requests, and threads such as that of the log use other cores, so the main
thread decides on throughput: 5 % less is 1.053 × its time. On a single core, the time of all threads decides.
`;
}

function rowsOf(figures: ObserveFigures): string[][] {
  return (Object.keys(LOAD_TITLES) as LoadId[]).flatMap((load) =>
    VARIANTS.map(({ id, title }) => {
      const median = medianOf(figures.costs(load, id).map(({ allUs }) => allUs));
      const cpuUs = median === null ? "–" : figure(median / UNITS[load], 1);
      const ratios = (["allUs", "mainUs"] as const).map((of) =>
        id === "off" ? "" : ratioText(figures.ratio(load, id, of))
      );
      return [`${LOAD_TITLES[load]}: ${title}`, cpuUs, ...ratios];
    })
  );
}

function ratioText(ratio: Interval | null): string {
  return ratio === null ? "–" : `${figure(ratio.median, 3)} × (${figure(ratio.low, 3)}–${figure(ratio.high, 3)})`;
}
