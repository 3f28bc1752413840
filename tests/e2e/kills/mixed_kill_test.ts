import { assertEquals } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { withPatience } from "../../support/patience.ts";
import { SeededRandom } from "../money_walk/random.ts";
import { configOf } from "./config.ts";
import { KILL_POINTS } from "./kill_points.ts";
import { assertMoneyExact, type KillStage, startKillStage } from "./kill_stage.ts";
import { type Acknowledged, Load, type LoadTarget } from "./load.ts";
import { createOldVideos } from "./old_videos.ts";
import type { ReportedTask, VideoFacts } from "./video_facts.ts";
import {
  assertMadeOnce,
  assertMirrorsOpen,
  assertNoStrayFiles,
  assertNothingLost,
  settledTasks,
} from "./video_laws.ts";
import { VideoLoad } from "./video_load.ts";
import { longTest } from "../../support/long_test.ts";

/** The environment can set more, as `deno task test:kills` does: each takes one to two seconds. */
const KILLS = Number(Deno.env.get("SWITCHYARD_TEST_KILLS") ?? "7");
/** Determines the orders, the callers' actions and the times of the kills. */
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const OLD_VIDEOS = 12;
const MAX_MOMENTS = 25;
/** How many characters of the log are shown with an error. */
const SHOWN_LOG = 30_000;
/** Maximum duration of a run: not every event occurs in every run. */
const MAX_LIFE_MS = 2_000;

longTest(
  `kill -9 under mixed load: nothing is lost, submitted or charged twice, or left held (seed ${SEED})`,
  async () => {
    const random = new SeededRandom(SEED);
    const stage = await startKillStage();
    const { sandbox, receiver, folder, key, adminKey, moments, facts, seen, acknowledged } = stage;
    // The modes and the numbers of threads take turns, so each replays what the other left.
    const configs: string[] = [];
    for (const [durability, isolates] of [["process", 2], ["power", 1], ["process", 1], ["power", 2]] as const) {
      const config = `${folder}/${durability}-${isolates}.json`;
      configs.push(config);
      const own = configOf(sandbox.baseUrls, { folder, key, adminKey, durability, isolates });
      await Deno.writeTextFile(config, JSON.stringify(own));
    }
    let numbered = 0;
    let started = 0;
    const start = () => {
      const config = itemAt(configs, started++ % configs.length);
      return startGatewayProcess({ args: ["serve", "--config", config], folder });
    };
    const nextNumber = () => ++numbered;

    await createOldVideos(itemAt(configs, 0), key, facts, OLD_VIDEOS);
    for (let kill = 0; kill < KILLS; kill++) {
      const child = start();
      const target = { address: await addressOf(child), key, adminKey, callbackUrl: receiver.url };
      const loads = [
        new Load(target, acknowledged),
        new VideoLoad(target, facts, random, () => moments.report("answer")),
      ] as const;
      const end = () => {
        child.kill("SIGKILL");
        for (const load of loads) load.stop();
      };
      const [moment, count] = [random.pick(KILL_POINTS), random.between(1, MAX_MOMENTS)];
      const patience = setTimeout(() => moments.stopWaiting(), MAX_LIFE_MS);
      moments.await(moment, count, end);
      await Promise.all([loads[0].run(), loads[1].run(nextNumber), child.ended]);
      clearTimeout(patience);
    }

    const child = start();
    const target = { address: await addressOf(child), key, adminKey, callbackUrl: receiver.url };
    const tasks = await lastRun(target, { facts, random, acknowledged }).catch((error) => {
      child.kill("SIGKILL");
      throw new Error(`the last run, whose log ends with: ${child.log().slice(-SHOWN_LOG)}`, { cause: error });
    });
    child.kill("SIGTERM");
    assertEquals((await withPatience("the stop of the gateway", child.ended)).code, 0, child.log());

    assertNothingLost(tasks, facts);
    assertMadeOnce(tasks, facts, seen);
    assertNoStrayFiles(`${folder}/files`, tasks);
    const store = await openKvStore({ path: `${folder}/store.db`, clock: systemClock, log: silentLog });
    try {
      await assertMoneyExact(store, stage, tasks);
    } finally {
      await store.close();
    }
    if (Deno.env.has("SWITCHYARD_TEST_KILLS")) console.log(summaryOf(facts, acknowledged, tasks));
    await stage.stop();
  },
);

/** Repeats what got no response, waits until all tasks are settled, and returns them. */
async function lastRun(
  target: LoadTarget,
  { facts, random, acknowledged }: Pick<KillStage, "facts" | "acknowledged"> & { readonly random: SeededRandom },
): Promise<ReportedTask[]> {
  const load = new Load(target, acknowledged);
  const running = load.run();
  await new VideoLoad(target, facts, random, () => {}).createAgain();
  load.stop();
  await running;
  const tasks = await settledTasks(target, facts);
  await assertMirrorsOpen(tasks, facts);
  return tasks;
}

async function addressOf(child: GatewayProcess): Promise<string> {
  return itemAt(await child.until(/is ready at (\S+)/), 1);
}

function summaryOf(facts: VideoFacts, { calls }: Acknowledged, tasks: readonly ReportedTask[]): string {
  const ends = Object.entries(Object.groupBy(tasks, ({ status, error }) => error?.code ?? status));
  return JSON.stringify({
    kills: KILLS,
    seed: SEED,
    calls,
    orders: facts.orders.size,
    tasks: Object.fromEntries(ends.map(([end, those]) => [end, those?.length])),
    purged: facts.purges.size,
    outdated: facts.outdated.size,
    events: facts.taken.size,
  });
}
