import { longTest } from "../support/long_test.ts";
import { assert, assertEquals } from "@std/assert";
import { readMoney, writeMoney } from "../../src/platform/lib/basics/money.ts";
import type { Commit, CommitResult, JobStore } from "../../src/platform/store/store.ts";
import type { VideoProgress } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { type StoredTask, unpackTask } from "../../src/services/videos/tasks/packed_task.ts";
import type { VideoTask } from "../../src/services/videos/tasks/task.ts";
import type { Videos } from "../../src/services/videos/videos.ts";
import { itemAt } from "../support/items.ts";
import { CALLER, createWith, DEADLINE_MS, DONE, failure, openStage, runDue, type Stage } from "./stage.ts";

/**
 * The state machine with a failing store and vendor, and a process killed at any operation. At the end, every
 * acknowledged task has ended once and the vendor had it at most once. Ledger, events and responses match.
 *
 * Needs its own isolate: what a killed process has taken of a module is never given back.
 */

const ACTIONS = 80;

/** A separate generator, so that a seed determines the whole scenario (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One run of the process. After it is killed, its operations no longer reach the store or the vendor. */
class ProcessRun {
  isOver = false;

  constructor(readonly random: () => number, readonly rate: number) {}

  async step(): Promise<void> {
    if (!this.isOver && this.random() < this.rate) this.isOver = true;
    if (this.isOver) await new Promise(() => {}); // the process no longer runs
  }
}

function failingStore(store: JobStore, run: ProcessRun): JobStore {
  return new Proxy(store, {
    get(target, name) {
      const real = Reflect.get(target, name);
      if (name === "commit") {
        return async (operation: string | null, commit: Commit): Promise<CommitResult> => {
          await run.step();
          if (run.random() < run.rate) throw new Error("disk full");
          const result = await target.commit(operation, commit);
          await run.step();
          if (run.random() < run.rate) throw new Error("the result is unknown");
          return result;
        };
      }
      if (name !== "get" && name !== "scan" && name !== "claim" && name !== "balance") {
        return typeof real === "function" ? real.bind(target) : real;
      }
      return async (...args: unknown[]) => {
        await run.step();
        return await real.apply(target, args);
      };
    },
  });
}

interface Scenario {
  readonly stage: Stage;
  readonly random: () => number;
  readonly rate: number;
  run: ProcessRun;
  store: JobStore;
  videos: Videos;
  readonly acknowledged: Set<string>;
  readonly cancelled: Set<string>;
  readonly ended: Map<string, string>;
}

function begin(scenario: Omit<Scenario, "run" | "store" | "videos">): Pick<Scenario, "run" | "store" | "videos"> {
  const run = new ProcessRun(scenario.random, scenario.rate);
  const store = failingStore(scenario.stage.store, run);
  return { run, store, videos: scenario.stage.reopen(store) };
}

function randomizeVendor(scenario: Scenario): void {
  const { stage: { vendor, second, clock }, random } = scenario;
  const endings: VideoProgress[] = [
    DONE,
    DONE,
    { status: "completed", results: [], consumption: { seconds: null, costUsd: null } },
    { status: "failed", code: "content_policy_violation", message: "refused" },
    { status: "cancelled" },
    { status: "expired" },
  ];
  const ends = new Map<string, { at: number; end: VideoProgress }>();
  for (const each of [vendor, second]) {
    each.before = async () => {
      await scenario.run.step();
      if (random() < 0.1) throw failure("no", random() < 0.3 ? "invalid" : "rate_limited");
    };
    each.after = async () => {
      await scenario.run.step();
      if (random() < 0.1) throw failure("unknown", "timeout");
    };
    each.progress = (id) => {
      const planned = ends.get(id) ??
        { at: clock.now() + random() * 120_000, end: itemAt(endings, Math.floor(random() * 6)) };
      ends.set(id, planned);
      if (random() < 0.1) throw failure("no");
      return clock.now() < planned.at ? { status: "pending", isRunning: true } : planned.end;
    };
    each.cancel = async () => {
      await scenario.run.step();
      if (random() < 0.2) throw failure("unknown");
      return random() < 0.5 ? "cancelled" : "too_late";
    };
    if (random() < 0.3) each.find = null;
  }
}

async function takeAction(scenario: Scenario): Promise<void> {
  const { stage, random, acknowledged, cancelled } = scenario;
  const dice = random();
  if (scenario.run.isOver) {
    stage.clock.advance(601_000); // leases expire; a real start frees them immediately
    Object.assign(scenario, begin(scenario));
  } else if (dice < 0.25) {
    void createWith(scenario.videos).then((id) => void acknowledged.add(id), () => {});
  } else if (dice < 0.35) {
    const id = [...acknowledged][Math.floor(random() * acknowledged.size)];
    if (id) void scenario.videos.cancel(CALLER.keyId, id).then(() => void cancelled.add(id), () => {});
  } else if (dice < 0.6) {
    stage.clock.advance(random() * 20_000);
  } else {
    void runDue(scenario.store, scenario.videos);
  }
  const some = 5 + Math.floor(random() * 60);
  for (let turn = 0; turn < some; turn++) await Promise.resolve();
  if (random() < 0.2) await checkEnds(scenario);
}

async function tasksOf({ store }: Stage): Promise<VideoTask[]> {
  const entries = await store.scan<StoredTask>(["video", "task"], { limit: 1_000 });
  return entries.map(({ value }) => unpackTask(value));
}

/** A terminal status never changes. */
async function checkEnds({ stage, ended }: Scenario): Promise<void> {
  for (const value of await tasksOf(stage)) {
    const before = ended.get(value.id);
    if (before !== undefined) assertEquals(value.status, before, value.id);
    if (value.status !== "pending") ended.set(value.id, value.status);
  }
}

async function recover(scenario: Scenario): Promise<void> {
  const { stage } = scenario;
  for (let turn = 0; turn < 1_000; turn++) await Promise.resolve(); // no create takes as long as the doubt period
  stage.clock.advance(31_000);
  for (const each of [stage.vendor, stage.second]) {
    each.before = each.after = () => {};
    each.cancel = () => Promise.resolve("too_late");
    each.progress = () => ({ status: "pending", isRunning: true });
  }
  for (let round = 0; round < 12; round++) {
    stage.clock.advance(DEADLINE_MS / 10);
    while (await stage.runDue() > 0);
    await checkEnds(scenario);
  }
}

async function assertWhole({ stage, acknowledged, cancelled, ended }: Scenario): Promise<void> {
  const tasks = await tasksOf(stage);
  let paid = 0n;
  for (const task of tasks) {
    assert(task.status !== "pending", `${task.id} has ended`);
    const events = await stage.store.scan(["event", task.id], { limit: 9 });
    assertEquals(events.map(({ key }) => key[2]), [task.status]);
    const accepted = [stage.vendor, stage.second].map((each) => each.accepted.get(task.id)?.length ?? 0);
    assert(itemAt(accepted, 0) + itemAt(accepted, 1) <= 1, `${task.id} was accepted ${accepted} times`);
    if (task.status === "completed") assertEquals(itemAt(accepted, 0) + itemAt(accepted, 1), 1);
    paid += task.usage?.cost ?? 0n;
    if (cancelled.has(task.id)) assertEquals(task.status, "cancelled");
  }
  for (const id of acknowledged) assert(ended.has(id), `the acknowledged task ${id} is there`);
  const balance = await stage.store.balance("demo");
  assertEquals([balance.available, balance.held], [readMoney("100") - paid, 0n], writeMoney(paid));
  const ledger = await stage.store.ledger("demo", { limit: 10_000 });
  assertEquals(ledger.reduce((sum, line) => sum + line.available, 0n), balance.available);
  assertEquals(await stage.store.claim(["video_submit", "video_submit_retry", "video_poll"], 1_000, 1), []);
}

Deno.test("under any failures and kills, every task ends once and the ledger matches (30 runs)", () => runSeeds(1, 30));

longTest(
  "under any failures and kills, every task ends once and the ledger matches (31 to 200)",
  () => runSeeds(31, 200),
);

async function runSeeds(first: number, last: number): Promise<void> {
  let completed = 0;
  for (let seed = first; seed <= last; seed++) {
    const random = randomOf(seed);
    const stage = await openStage();
    const start = { stage, random, rate: 0.002 + random() * 0.02, acknowledged: new Set<string>() };
    const rest = { cancelled: new Set<string>(), ended: new Map<string, string>() };
    const scenario: Scenario = { ...start, ...rest, ...begin({ ...start, ...rest }) };
    randomizeVendor(scenario);
    try {
      for (let action = 0; action < ACTIONS; action++) await takeAction(scenario);
      await recover(scenario);
      await assertWhole(scenario);
    } catch (error) {
      throw new Error(`The scenario of seed ${seed} fails`, { cause: error });
    }
    completed += [...scenario.ended.values()].filter((status) => status === "completed").length;
  }
  assert(completed > last - first + 1, `enough tasks completed: ${completed} tasks were completed`);
}
