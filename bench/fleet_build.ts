/**
 * Fills a folder with the store and the files of a gateway after days of work: tasks that have ended, and open tasks.
 * Every record is written by the engine itself. Its argument is a {@linkcode FleetPlan} as JSON, and it prints a
 * {@linkcode FleetBuilt} as JSON.
 */
import type { VideoProgress } from "../src/vendors/upstreams/contract/video_upstream.ts";
import { indexOldTasks } from "../src/services/videos/tasks/records.ts";
import { argument } from "./argument.ts";
import { CALLER, type FleetEngine, MODELS, openAccount, openFleetEngine, REJECTING_RECEIVER } from "./fleet_engine.ts";

/** The numbers of tasks to build. */
export interface FleetPlan {
  /** An empty folder for the store and the files. */
  readonly folder: string;
  readonly finished: number;
  readonly open: number;
  /** Unix milliseconds of the end; the last task was created some hours before. */
  readonly endsAt: number;
}

/** The numbers of what was built. */
export interface FleetBuilt {
  /** Tasks per second that went from creation to the stored copy and the delivered event. */
  readonly endedPerSecond: number;
  /** Finished tasks whose event was not delivered yet. */
  readonly expected: number;
}

const AT_ONCE = 1_000;
/** Time between two groups of tasks. */
const PAUSE_MS = 5 * 3_600_000;
const POLLED_AFTER_MS = 12_000;
/** The steps of the clock while the engine works: a lease must not end during its job. */
const TICK_MS = { idle: 1_000, atWork: 20 };
const WAIT_MS = 2;
/** Of a hundred tasks that have ended: how many did not complete, with each other status in turn. */
const NOT_COMPLETED_PER_HUNDRED = 9;
const PROMPT =
  "A lighthouse at dusk, waves against the rocks, gulls over the water, a slow pan to the left that ends " +
  "at a keeper who lights the lamp; warm colours, grain as on film";

/** Builds the fleet. */
export async function buildFleet({ folder, finished, open, endsAt }: FleetPlan): Promise<FleetBuilt> {
  const groups = Math.ceil(finished / AT_ONCE);
  const beginsAt = endsAt - (groups + 1) * PAUSE_MS;
  const engine = await openFleetEngine({ folder, at: beginsAt, pollsPerSecond: 1e6 });
  await openAccount(engine.store);
  await indexOldTasks(engine.store); // as the first start does
  const begun = performance.now();
  engine.start();
  const built = { expected: 0 };
  for (let done = 0; done < finished; done += AT_ONCE) {
    built.expected += await finishTasks(engine, Math.min(AT_ONCE, finished - done), done);
    const nextAt = beginsAt + (done / AT_ONCE + 1) * PAUSE_MS;
    engine.clock.stall(Math.max(nextAt - engine.clock.now(), 0));
  }
  const endedPerSecond = finished / ((performance.now() - begun) / 1_000);
  for (let done = 0; done < open; done += AT_ONCE) {
    await create(engine, Math.min(AT_ONCE, open - done), finished + done);
  }
  await pollOnce(engine);
  await engine.close(); // the poller is not drained and keeps its leases, as a killed process does
  return { endedPerSecond, ...built };
}

/** Creates tasks and waits until all their jobs are done; returns the number of events that their receiver rejects. */
async function finishTasks(engine: FleetEngine, count: number, from: number): Promise<number> {
  const { store, vendor } = engine;
  await create(engine, count, from);
  vendor.progress = (id) => progressOf(Number(id.slice(-12)));
  await pollOnce(engine);
  const rejecting = Array.from({ length: count }, (_, n) => from + n).filter((n) => isRejecting(n)).length;
  const isOver = async () => {
    const pending = await store.scan(["video", "time", "pending"], { limit: 1 });
    return pending.length === 0 && vendor.counts.opened === completedUpTo(from + count);
  };
  await advanceUntil(engine, isOver);
  vendor.progress = () => ({ status: "pending", isRunning: true });
  return rejecting;
}

async function create(engine: FleetEngine, count: number, from: number): Promise<void> {
  const { videos, vendor } = engine;
  const before = vendor.counts.jobs;
  await Promise.all(Array.from({ length: count }, async (_, n) => {
    await videos.create({
      ...CALLER,
      receivedAt: 0,
      body: bodyOf(from + n),
      key: null,
    });
  }));
  await advanceUntil(engine, () => vendor.counts.jobs === before + count);
}

async function pollOnce({ clock, videos }: FleetEngine): Promise<void> {
  clock.advance(POLLED_AFTER_MS);
  await videos.poller.pollDue();
}

/** Advances the clock until the condition is true and no job is running. */
async function advanceUntil({ clock, running }: FleetEngine, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isSo() || running() > 0) {
    clock.advance(running() > 0 ? TICK_MS.atWork : TICK_MS.idle);
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
}

function bodyOf(n: number): Record<string, unknown> {
  const hook = isRejecting(n)
    ? `https://${REJECTING_RECEIVER}.example/hook`
    : n % 10 === 0
    ? "https://receiver.example/hook"
    : undefined;
  return {
    model: MODELS[n % MODELS.length],
    prompt: `${PROMPT} (${n})`,
    metadata: { order: `order-${n}`, team: `team-${n % 50}` },
    ...(hook && { callback_url: hook }),
  };
}

function isRejecting(n: number): boolean {
  return n % 500 === 0;
}

/** How many of the first tasks complete with a video. */
function completedUpTo(n: number): number {
  return n - Math.floor(n / 100) * NOT_COMPLETED_PER_HUNDRED - Math.min(n % 100, NOT_COMPLETED_PER_HUNDRED);
}

function progressOf(n: number): VideoProgress {
  const rest = n % 100;
  if (rest >= NOT_COMPLETED_PER_HUNDRED) {
    return {
      status: "completed",
      results: [{
        url: `https://vendor.example/results/2026/11/22/${n}/video.mp4?signature=${"0".repeat(64)}`,
        needsCredential: true,
      }],
      consumption: { seconds: 5, costUsd: null },
    };
  }
  if (rest % 3 === 0) return { status: "failed", code: "upstream_error", message: "The picture could not be read" };
  return { status: rest % 3 === 1 ? "cancelled" : "expired" };
}

if (import.meta.main) console.log(JSON.stringify(await buildFleet(JSON.parse(argument(0, "the order as JSON")))));
