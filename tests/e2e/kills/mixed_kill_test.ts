import { assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/billing/api_key.ts";
import { verifyLedger } from "../../../src/billing/verify_ledger.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { readMoney } from "../../../src/lib/money.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { openKvStore } from "../../../src/store/kv/open_kv_store.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { LOOPBACK_ROOT } from "../../support/loopback_certificate.ts";
import { SeededRandom } from "../money_walk/random.ts";
import { assertCallsPaid } from "./call_laws.ts";
import { configOf, START_BALANCE } from "./config.ts";
import { type Acknowledged, type CallKind, Load, nothingAcknowledged } from "./load.ts";
import { KILL_POINTS, KillPoints } from "./kill_points.ts";
import { createOldVideos } from "./old_videos.ts";
import { startEventReceiver } from "./receiver.ts";
import { type ReportedTask, VideoFacts } from "./video_facts.ts";
import {
  assertMadeOnce,
  assertMirrorsOpen,
  assertNoStrayFiles,
  assertNothingLost,
  assertVideosPaid,
  settledTasks,
} from "./video_laws.ts";
import { VideoLoad } from "./video_load.ts";
import { SeenVideos } from "./video_vendors.ts";

/** The environment can set more, as `deno task test:kills` does: each takes one to two seconds. */
const KILLS = Number(Deno.env.get("SWITCHYARD_TEST_KILLS") ?? "7");
/** Determines the orders, the callers' actions and the times of the kills. */
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const OLD_VIDEOS = 12;
const MAX_MOMENTS = 25;
/** Maximum duration of a run: not every event occurs in every run. */
const MAX_LIFE_MS = 2_000;

Deno.test(`kill -9 under mixed load: nothing is lost, submitted or charged twice, or left held (seed ${SEED})`, async () => {
  const random = new SeededRandom(SEED);
  const asked: Record<CallKind, number> = { text: 0, image: 0, cache: 0 };
  const moments = new KillPoints();
  const seen = new SeenVideos();
  const sandbox = await startSandbox({
    port: 0,
    onRequest(request) {
      const { method, path } = request;
      if (method === "POST" && path.endsWith("/messages")) asked.text++;
      else if (method === "POST" && path.endsWith("/images/generations")) asked.image++;
      else if (method === "POST" && path.endsWith("/cachedContents")) asked.cache++;
      const moment = seen.note(request);
      if (moment !== null) moments.report(moment);
    },
  });
  const facts = new VideoFacts();
  const receiver = startEventReceiver(facts, () => moments.report("event"));
  const folder = await Deno.makeTempDir();
  const [key, adminKey] = [newApiKey(), newApiKey()];
  await Deno.writeTextFile(`${folder}/root.pem`, LOOPBACK_ROOT);
  // The modes take turns, so each replays what the other left.
  const configs: string[] = [];
  for (const durability of ["process", "power"] as const) {
    const config = `${folder}/${durability}.json`;
    configs.push(config);
    await Deno.writeTextFile(config, JSON.stringify(configOf(sandbox.baseUrls, { folder, key, adminKey, durability })));
  }
  const acknowledged = nothingAcknowledged();
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
  const load = new Load(target, acknowledged);
  const videoLoad = new VideoLoad(target, facts, random, () => {});
  const running = load.run();
  await videoLoad.createAgain();
  load.stop();
  await running;
  const tasks = await settledTasks(target, facts);
  await assertMirrorsOpen(tasks, facts);
  child.kill("SIGTERM");
  assertEquals((await child.ended).code, 0, child.log());

  assertNothingLost(tasks, facts);
  assertMadeOnce(tasks, facts, seen);
  assertNoStrayFiles(`${folder}/files`, tasks);
  const store = await openKvStore({ path: `${folder}/store.db`, clock: systemClock, log: silentLog });
  try {
    assertEquals((await verifyLedger(store)).differences, []);
    const spent = await assertCallsPaid(store, "demo", acknowledged, asked) +
      await assertVideosPaid(store, "demo", tasks, facts);
    const balance = await store.balance("demo");
    assertEquals(balance.held, 0n, "nothing is held at the end");
    assertEquals(balance.available, readMoney(START_BALANCE) - spent, "the balance is what the ledger says");
  } finally {
    await store.close();
  }
  if (Deno.env.has("SWITCHYARD_TEST_KILLS")) console.log(summaryOf(facts, acknowledged, tasks));
  await receiver.stop();
  await sandbox.stop();
  await Deno.remove(folder, { recursive: true });
});

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
