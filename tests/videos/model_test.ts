import { assert, assertEquals } from "@std/assert";
import { readMoney, writeMoney } from "../../src/lib/money.ts";
import type { Commit, CommitResult, Store } from "../../src/store/store.ts";
import type { VideoProgress } from "../../src/upstreams/video_upstream.ts";
import { type StoredTask, unpackTask } from "../../src/videos/tasks/packed_task.ts";
import type { VideoTask } from "../../src/videos/tasks/task.ts";
import type { Videos } from "../../src/videos/videos.ts";
import { itemAt } from "../support/items.ts";
import { CALLER, createWith, DEADLINE_MS, DONE, failure, openStage, runDue, type Stage } from "./stage.ts";

/**
 * The state machine against a store and a vendor that fail, and a process that is killed at any operation: after all is
 * over every acknowledged task has ended once, the vendor had it once at most, and money, events and answers say the
 * same.
 */

const SEEDS = 200;
const ACTIONS = 80;

/** A small generator of its own, so that a seed is a whole story (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One life of the process: once it is killed, nothing it does reaches the store or the vendor any more. */
class Life {
  isOver = false;

  constructor(readonly random: () => number, readonly rate: number) {}

  async step(): Promise<void> {
    if (!this.isOver && this.random() < this.rate) this.isOver = true;
    if (this.isOver) await new Promise(() => {}); // nobody is left to go on
  }
}

function hurt(store: Store, life: Life): Store {
  return new Proxy(store, {
    get(target, name) {
      const real = Reflect.get(target, name);
      if (name === "commit") {
        return async (operation: string | null, commit: Commit): Promise<CommitResult> => {
          await life.step();
          if (life.random() < life.rate) throw new Error("disk full");
          const result = await target.commit(operation, commit);
          await life.step();
          if (life.random() < life.rate) throw new Error("the result is unknown");
          return result;
        };
      }
      if (name !== "get" && name !== "scan" && name !== "claim" && name !== "balance") {
        return typeof real === "function" ? real.bind(target) : real;
      }
      return async (...args: unknown[]) => {
        await life.step();
        return await real.apply(target, args);
      };
    },
  });
}

interface Story {
  readonly stage: Stage;
  readonly random: () => number;
  readonly rate: number;
  life: Life;
  store: Store;
  videos: Videos;
  readonly acknowledged: Set<string>;
  readonly cancelled: Set<string>;
  readonly ended: Map<string, string>;
}

function begin(story: Omit<Story, "life" | "store" | "videos">): Pick<Story, "life" | "store" | "videos"> {
  const life = new Life(story.random, story.rate);
  const store = hurt(story.stage.store, life);
  return { life, store, videos: story.stage.reopen(store) };
}

function unruly(story: Story): void {
  const { stage: { vendor, second, clock }, random } = story;
  const endings: VideoProgress[] = [
    DONE,
    DONE,
    { status: "completed", results: [], consumption: { seconds: null, costUsd: null } },
    { status: "failed", code: "content_policy_violation", message: "refused" },
    { status: "cancelled" },
    { status: "expired" },
  ];
  const fates = new Map<string, { at: number; end: VideoProgress }>();
  for (const each of [vendor, second]) {
    each.before = async () => {
      await story.life.step();
      if (random() < 0.1) throw failure("no", random() < 0.3 ? "invalid" : "rate_limited");
    };
    each.after = async () => {
      await story.life.step();
      if (random() < 0.1) throw failure("unknown", "timeout");
    };
    each.progress = (id) => {
      const fate = fates.get(id) ??
        { at: clock.now() + random() * 120_000, end: itemAt(endings, Math.floor(random() * 6)) };
      fates.set(id, fate);
      if (random() < 0.1) throw failure("no");
      return clock.now() < fate.at ? { status: "pending", isRunning: true } : fate.end;
    };
    each.cancel = async () => {
      await story.life.step();
      if (random() < 0.2) throw failure("unknown");
      return random() < 0.5 ? "cancelled" : "too_late";
    };
    if (random() < 0.3) each.find = null;
  }
}

async function act(story: Story): Promise<void> {
  const { stage, random, acknowledged, cancelled } = story;
  const dice = random();
  if (story.life.isOver) {
    stage.clock.advance(601_000); // leases run out; at a real start they are freed at once
    Object.assign(story, begin(story));
  } else if (dice < 0.25) {
    void createWith(story.videos).then((id) => void acknowledged.add(id), () => {});
  } else if (dice < 0.35) {
    const id = [...acknowledged][Math.floor(random() * acknowledged.size)];
    if (id) void story.videos.cancel(CALLER.keyId, id).then(() => void cancelled.add(id), () => {});
  } else if (dice < 0.6) {
    stage.clock.advance(random() * 20_000);
  } else {
    void runDue(story.store, story.videos);
  }
  const some = 5 + Math.floor(random() * 60);
  for (let turn = 0; turn < some; turn++) await Promise.resolve();
  if (random() < 0.2) await look(story);
}

async function tasksOf({ store }: Stage): Promise<VideoTask[]> {
  const entries = await store.scan<StoredTask>(["video", "task"], { limit: 1_000 });
  return entries.map(({ value }) => unpackTask(value));
}

/** What was once terminal is so for ever. */
async function look({ stage, ended }: Story): Promise<void> {
  for (const value of await tasksOf(stage)) {
    const before = ended.get(value.id);
    if (before !== undefined) assertEquals(value.status, before, value.id);
    if (value.status !== "pending") ended.set(value.id, value.status);
  }
}

async function calmDown(story: Story): Promise<void> {
  const { stage } = story;
  for (let turn = 0; turn < 1_000; turn++) await Promise.resolve(); // no creation takes as long as the doubt about it
  stage.clock.advance(31_000);
  for (const each of [stage.vendor, stage.second]) {
    each.before = each.after = () => {};
    each.cancel = () => Promise.resolve("too_late");
    each.progress = () => ({ status: "pending", isRunning: true });
  }
  for (let round = 0; round < 12; round++) {
    stage.clock.advance(DEADLINE_MS / 10);
    while (await stage.runDue() > 0);
    await look(story);
  }
}

async function assertWhole({ stage, acknowledged, cancelled, ended }: Story): Promise<void> {
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

Deno.test(`whatever fails, and wherever the process is killed, every task ends once and money agrees (${SEEDS} stories)`, async () => {
  let completed = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomOf(seed);
    const stage = await openStage();
    const start = { stage, random, rate: 0.002 + random() * 0.02, acknowledged: new Set<string>() };
    const rest = { cancelled: new Set<string>(), ended: new Map<string, string>() };
    const story: Story = { ...start, ...rest, ...begin({ ...start, ...rest }) };
    unruly(story);
    try {
      for (let action = 0; action < ACTIONS; action++) await act(story);
      await calmDown(story);
      await assertWhole(story);
    } catch (error) {
      throw new Error(`The story of seed ${seed} fails`, { cause: error });
    }
    completed += [...story.ended.values()].filter((status) => status === "completed").length;
  }
  assert(completed > SEEDS, `the stories are worth telling: ${completed} tasks were completed`);
});
