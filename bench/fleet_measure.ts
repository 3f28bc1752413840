/**
 * Measures lists, polls and the retention over a store that `fleet_build.ts` has filled, in a separate process and on a
 * clock that it moves. Its argument is a {@linkcode FleetMeasurement} as JSON, and it prints {@linkcode FleetFigures}
 * as JSON.
 */
import process from "node:process";
import { elementAt } from "../src/platform/lib/collections/element_at.ts";
import type { Key, Store } from "../src/platform/store/store.ts";
import type { OwnTaskFilter } from "../src/services/videos/tasks/own_tasks.ts";
import { argument } from "./argument.ts";
import { countingStore, type StoreReads } from "./counting_store.ts";
import { CALLER, type FleetEngine, MODELS, openFleetEngine } from "./fleet_engine.ts";
import { medianOf } from "./statistics.ts";
import { watchThread } from "./thread_watch.ts";

/** The arguments of a measurement. */
export interface FleetMeasurement {
  readonly folder: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The cost of one page of a list. */
export interface ListFigures {
  readonly what: string;
  readonly tasks: number;
  readonly ms: number;
  readonly scans: number;
  readonly entries: number;
  readonly values: number;
}

/** The cost of polls in so many seconds of the moved clock. */
export interface PollFigures {
  readonly isListed: boolean;
  readonly open: number;
  /** Requests to the vendor per second: the average, and the maximum. */
  readonly perSecond: number;
  readonly maxPerSecond: number;
  /** The maximum time between two polls of one task, in seconds. */
  readonly maxGapSeconds: number;
  /** Share of one core, without the network. */
  readonly cpuShare: number;
  readonly longestTurnMs: number;
}

/** The cost of a run of one part of the retention, without its pauses. */
export interface RetentionFigures {
  readonly what: string;
  readonly removed: number;
  readonly left: number;
  readonly steps: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly longestTurnMs: number;
}

/** All figures. */
export interface FleetFigures {
  readonly lists: readonly ListFigures[];
  readonly polls: readonly PollFigures[];
  readonly retention: readonly RetentionFigures[];
}

const POLLED_SECONDS = 600;
const POLL_ROUNDS = 9;
const DAY_MS = 86_400_000;
const ALL: OwnTaskFilter = { status: null, model: null, metadata: [] };

async function measure({ folder, at }: FleetMeasurement): Promise<FleetFigures> {
  const lists = await onEngine({ folder, at }, measureLists);
  const polls: PollFigures[] = [];
  for (const isListed of [false, true]) {
    polls.push(await onEngine({ folder, at: at + 60_000, isListed }, (engine) => measurePolls(engine, isListed)));
  }
  return { lists, polls, retention: await onEngine({ folder, at: at + 31 * DAY_MS }, measureRetention) };
}

async function onEngine<T>(
  options: Parameters<typeof openFleetEngine>[0],
  measure: (engine: FleetEngine, reads: StoreReads) => Promise<T>,
): Promise<T> {
  let reads: StoreReads | null = null;
  const engine = await openFleetEngine({
    ...options,
    wrapStore(store) {
      const counting = countingStore(store);
      reads = counting.reads;
      return counting.store;
    },
  });
  try {
    return await measure(engine, reads!);
  } finally {
    await engine.close();
  }
}

async function measureLists({ videos }: FleetEngine, reads: StoreReads): Promise<ListFigures[]> {
  const list = (filter: OwnTaskFilter, after: string | null, limit = 100) =>
    videos.list(CALLER.keyId, filter, { after, limit, reverse: true });
  let deep: string | null = null;
  for (let page = 0; page < 400; page++) deep = (await list(ALL, deep)).next;
  const cases: [what: string, filter: OwnTaskFilter, after: string | null][] = [
    ["first page", ALL, null],
    ["page 401", ALL, deep],
    ["by status, `completed`", { ...ALL, status: "completed" }, null],
    ["by status, `pending`", { ...ALL, status: "pending" }, null],
    ["by model", { ...ALL, model: MODELS[1] }, null],
    ["by metadata that a fiftieth has", { ...ALL, metadata: [["team", "team-7"]] }, null],
    ["by metadata that one has", { ...ALL, metadata: [["order", "order-77"]] }, null],
    [
      "by model, status and metadata",
      { status: "completed", model: MODELS[1], metadata: [["team", "team-7"]] },
      null,
    ],
  ];
  const figures: ListFigures[] = [];
  for (const [what, filter, after] of cases) {
    const spans: number[] = [];
    let tasks = 0;
    for (let round = 0; round < POLL_ROUNDS; round++) {
      Object.assign(reads, { scans: 0, entries: 0, keys: [] });
      const begun = performance.now();
      tasks = (await list(filter, after)).tasks.length;
      spans.push(performance.now() - begun);
    }
    const { scans, entries, keys } = reads;
    figures.push({ what, tasks, ms: medianOf(spans) ?? NaN, scans, entries, values: keys.length });
  }
  return figures;
}

async function measurePolls({ clock, videos, vendor }: FleetEngine, isListed: boolean): Promise<PollFigures> {
  const polledAt = new Map<string, number>();
  let [second, longestGapSeconds] = [0, 0];
  vendor.progress = (id) => {
    longestGapSeconds = Math.max(longestGapSeconds, second - (polledAt.get(id) ?? 0));
    polledAt.set(id, second);
    return { status: "pending", isRunning: true };
  };
  await videos.poller.pollDue(); // takes over the tasks of the previous process
  const watch = watchThread();
  const [cpu, before] = [process.cpuUsage(), vendor.counts.polls];
  let mostPerSecond = 0;
  while (second++ < POLLED_SECONDS) {
    const polls = vendor.counts.polls;
    clock.advance(1_000);
    await videos.poller.pollDue();
    mostPerSecond = Math.max(mostPerSecond, vendor.counts.polls - polls);
  }
  const { user, system } = process.cpuUsage(cpu);
  watch.stop();
  return {
    isListed,
    open: polledAt.size,
    perSecond: (vendor.counts.polls - before) / POLLED_SECONDS,
    maxPerSecond: mostPerSecond,
    maxGapSeconds: longestGapSeconds,
    cpuShare: (user + system) / 1e6 / POLLED_SECONDS,
    longestTurnMs: watch.take(),
  };
}

async function measureRetention({ store, sweeps }: FleetEngine): Promise<RetentionFigures[]> {
  const sweepSteps = sweeps({ filesMs: 7 * DAY_MS, tasksMs: 30 * DAY_MS });
  const parts = [
    { what: "copies of results", of: ["video", "kept_files"], sweep: elementAt(sweepSteps, 0) },
    { what: "tasks", of: ["video", "task"], sweep: elementAt(sweepSteps, 1) },
  ];
  const figures: RetentionFigures[] = [];
  for (const { what, of, sweep } of parts) {
    const before = await countBelow(store, of);
    const watch = watchThread();
    const [cpu, begun] = [process.cpuUsage(), performance.now()];
    let steps = 1;
    while (await sweep()) steps++;
    const seconds = (performance.now() - begun) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    watch.stop();
    const left = await countBelow(store, of);
    const longestTurnMs = watch.take();
    figures.push({
      what,
      removed: before - left,
      left,
      steps,
      seconds,
      cpuSeconds: (user + system) / 1e6,
      longestTurnMs,
    });
  }
  return figures;
}

async function countBelow(store: Store, prefix: Key): Promise<number> {
  let count = 0;
  let after: Key | undefined;
  do {
    const entries = await store.scan(prefix, { after, limit: 500 });
    count += entries.length;
    after = entries[499]?.key;
  } while (after !== undefined);
  return count;
}

console.log(JSON.stringify(await measure(JSON.parse(argument(0, "the order as JSON")))));
