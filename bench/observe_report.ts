import { CHUNKS } from "./load_request.ts";
import type { Machine } from "./machine.ts";
import { figure, table } from "./markdown.ts";
import type { Cores } from "./servers.ts";
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
  json: "JSON of 1 KB, 32 connections",
  paced: `${CHUNKS.paced} chunks paced at 20 ms, 100 streams`,
};

/** What one gateway did in one turn. */
export interface Slice {
  /** Microseconds of processor time for each reply. */
  readonly cpuUs: number;
  readonly repliesPerSecond: number;
}

/** Where a slice belongs. */
export interface SlicePlace {
  readonly load: LoadId;
  readonly variant: VariantId;
  /** From 1: the gateways of one start are other processes than those of the next. */
  readonly start: number;
}

/** All slices. The n-th slice of each gateway of a start belongs to the n-th round. */
export class ObserveFigures {
  readonly #slices = new Map<string, Slice[]>();
  readonly #starts = new Set<number>();

  /** Adds the slice of the next round. */
  add({ load, variant, start }: SlicePlace, slice: Slice): void {
    this.#starts.add(start);
    this.#slices.getOrInsertComputed(`${load}/${variant}/${start}`, () => []).push(slice);
  }

  /** All slices of a gateway under a load. */
  slices(load: LoadId, variant: VariantId): Slice[] {
    return [...this.#starts].flatMap((start) => this.#of(load, variant, start));
  }

  /**
   * A figure of a gateway for each of those with neither in the same round; `again` is compared with `off` alone. The
   * intervals consider that the slices of one start are of one process.
   */
  ratio(load: LoadId, variant: VariantId, of: (slice: Slice) => number, random?: () => number): Interval | null {
    const groups = [...this.#starts].map((start) => {
      const [off, again] = [this.#of(load, "off", start), this.#of(load, "again", start)];
      return this.#of(load, variant, start).flatMap((own, round) => {
        const [one, other] = [off[round], again[round]];
        if (one === undefined || other === undefined) return [];
        return of(own) / (variant === "again" ? of(one) : (of(one) + of(other)) / 2);
      });
    });
    return intervalOf(groups, random);
  }

  #of(load: LoadId, variant: VariantId, start: number): readonly Slice[] {
    return this.#slices.get(`${load}/${variant}/${start}`) ?? [];
  }
}

/** Whether an interval is within a bound. */
export type Verdict = "met" | "**missed**" | "not decided";

/** A bound is met or missed only if the whole interval is on one side of it. */
export function verdictOf({ low, high }: Interval, bound: { readonly max?: number; readonly min?: number }): Verdict {
  const { max = Infinity, min = -Infinity } = bound;
  if (low >= min && high <= max) return "met";
  return low > max || high < min ? "**missed**" : "not decided";
}

const MAX_CPU = 1.08;
const MIN_THROUGHPUT = 0.95;

const cpuUs = (slice: Slice) => slice.cpuUs;
const repliesPerSecond = (slice: Slice) => slice.repliesPerSecond;

interface Mark {
  readonly title: string;
  readonly load: LoadId;
  readonly variant: VariantId;
  readonly of: (slice: Slice) => number;
  readonly bound: { readonly max?: number; readonly min?: number };
}

const MARKS: readonly Mark[] = [
  {
    title: "JSON of 1 KB: processor time of a request, with metrics and request log",
    load: "json",
    variant: "both",
    of: cpuUs,
    bound: { max: MAX_CPU },
  },
  {
    title: "JSON of 1 KB: replies per second, with the request log",
    load: "json",
    variant: "log",
    of: repliesPerSecond,
    bound: { min: MIN_THROUGHPUT },
  },
  {
    title: "Paced streams: processor time of a chunk, with metrics and request log",
    load: "paced",
    variant: "both",
    of: cpuUs,
    bound: { max: MAX_CPU },
  },
];

/** What a report is written from. */
export interface ObserveOutcome {
  readonly figures: ObserveFigures;
  readonly machine: Machine;
  readonly cores: Pick<Cores, "description">;
  readonly date: Date;
  readonly starts: number;
  /** Of a turn. */
  readonly seconds: number;
}

/** Writes the report in Markdown. */
export function observeReport({ figures, machine, cores, date, starts, seconds }: ObserveOutcome): string {
  const marks = MARKS.map(({ title, load, variant, of, bound }) => {
    const ratio = figures.ratio(load, variant, of);
    const { max, min } = bound;
    const target = max === undefined ? `at least ${figure(min, 2)} ×` : `at most ${figure(max, 2)} ×`;
    return [title, target, ratioText(ratio), ratio === null ? "not measured" : verdictOf(ratio, bound)];
  });
  return `# Results: metrics and request log

What they cost, on ${date.toISOString().slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores, ${machine.system}, Deno
${machine.deno}. ${cores.description}

Gateways with both, one and neither took turns of ${seconds} s or more in random order, after each of ${starts} starts.
Each ratio is one of the same round: to the mean of two gateways with neither. Shown are the median and, in parentheses,
its interval of 95 % confidence, by a bootstrap over starts and rounds. A target is met or missed if the whole interval
is on one side of it. Processor time is that of all threads and of the kernel for them, until 0.7 s after the last
reply, so that it has the rows that are written later.

${table(["", "Target", "Measured", "Result"], marks)}

${table(["", "CPU µs", "of neither", "Replies/s, of neither"], rowsOf(figures))}

The second line of each load compares the same program with itself: what it differs from 1 is the error of the
measurement.
`;
}

function rowsOf(figures: ObserveFigures): string[][] {
  return (Object.keys(LOAD_TITLES) as LoadId[]).flatMap((load) =>
    VARIANTS.map(({ id, title }) => {
      const median = medianOf(figures.slices(load, id).map(cpuUs));
      return [
        `${LOAD_TITLES[load]}: ${title}`,
        figure(load === "paced" && median !== null ? median / CHUNKS.paced : median, load === "paced" ? 1 : 0),
        id === "off" ? "" : ratioText(figures.ratio(load, id, cpuUs)),
        id === "off" ? "" : ratioText(figures.ratio(load, id, repliesPerSecond)),
      ];
    })
  );
}

function ratioText(ratio: Interval | null): string {
  return ratio === null ? "–" : `${figure(ratio.median, 3)} × (${figure(ratio.low, 3)}–${figure(ratio.high, 3)})`;
}
