import { assertEquals } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { migrateDatabase } from "../../../src/platform/store/postgres/migrate.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { configOf } from "../../e2e/kills/config.ts";
import { assertMoneyExact, startKillStage } from "../../e2e/kills/kill_stage.ts";
import { KILL_POINTS } from "../../e2e/kills/kill_points.ts";
import { Load, type LoadTarget } from "../../e2e/kills/load.ts";
import {
  assertMadeOnce,
  assertMirrorsOpen,
  assertNoStrayFiles,
  assertNothingLost,
  settledTasks,
} from "../../e2e/kills/video_laws.ts";
import { VideoLoad } from "../../e2e/kills/video_load.ts";
import { SeededRandom } from "../../e2e/money_walk/random.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";
import { Takeovers } from "./takeovers.ts";

/** The environment can set more: each takes some seconds. */
const KILLS = Number(Deno.env.get("SWITCHYARD_TEST_KILLS") ?? "4");
/** The server crashes after so many kills of gateways. */
const KILLS_PER_CRASH = 5;
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const MAX_MOMENTS = 25;
const MAX_LIFE_MS = 2_000;
/** What a gateway may refuse after a crash of the server, until its connections and its lock are there again. */
const OUTAGE_MS = 15_000;

/** One of the gateways, which is started again after each kill. */
interface Node {
  process: GatewayProcess | null;
  /** The name of its process in the database. Another one after each kill. */
  name: string;
  /** Ends its load. */
  stopLoad: () => void;
  /** Resolves when it is ready again after a kill. */
  ready: PromiseWithResolvers<LoadTarget>;
}

if (isPostgresWanted) {
  Deno.test(`kill -9 of two gateways and of their database under mixed load: nothing is lost, submitted or charged twice, or left held (seed ${SEED})`, async () => {
    const server = await startPostgres();
    const random = new SeededRandom(SEED);
    const stage = await startKillStage();
    const { sandbox, receiver, folder, key, adminKey, moments, facts, seen, acknowledged } = stage;
    const store = server.url("postgres");
    await migrateDatabase(store);
    const takeovers = await Takeovers.start(store);
    const config = configOf(sandbox.baseUrls, { folder, key, adminKey, durability: "power" });
    let started = 0;
    let numbered = 0;
    let isOver = false;
    let outageUntil = -Infinity;
    const mayFail = (status: number) => status >= 500 && performance.now() < outageUntil;
    const nodes: Node[] = [0, 1].map(() => ({
      process: null,
      name: "",
      stopLoad: () => {},
      ready: Promise.withResolvers(),
    }));

    /** Starts a gateway whose claims are recorded with a name of its own. */
    async function start(name: string): Promise<GatewayProcess> {
      const file = `${folder}/${name}.json`;
      await Deno.writeTextFile(file, JSON.stringify({ ...config as object, store: takeovers.urlFor(name) }));
      return startGatewayProcess({ args: ["serve", "--config", file], folder });
    }

    function kill(node: Node): void {
      node.process?.kill("SIGKILL");
      takeovers.noteKill(node.name);
    }

    /** Starts a gateway with load, again after each kill. */
    async function run(node: Node): Promise<void> {
      while (!isOver) {
        node.name = `gateway_${++started}`;
        const child = await start(node.name);
        node.process = child;
        const address = itemAt(await child.until(/is ready at (\S+)/), 1);
        const target = { address, key, adminKey, callbackUrl: receiver.url, mayFail };
        const loads = [
          new Load(target, acknowledged),
          new VideoLoad(target, facts, random, () => moments.report("answer")),
        ] as const;
        node.stopLoad = () => {
          for (const load of loads) load.stop();
        };
        const ended = child.ended.then(node.stopLoad);
        node.ready.resolve(target);
        await Promise.all([loads[0].run(), loads[1].run(() => ++numbered), ended]);
      }
    }

    let crashes = 0;
    const running = nodes.map((node) => run(node));
    for (let kills = 0; kills < KILLS; kills++) {
      await Promise.all(nodes.map(({ ready }) => ready.promise));
      if (kills % KILLS_PER_CRASH === 3) {
        outageUntil = performance.now() + OUTAGE_MS;
        crashes++;
        await takeovers.duringCrash(() => server.crash());
        outageUntil = performance.now() + OUTAGE_MS;
      }
      const victim = random.pick(nodes);
      const killed = Promise.withResolvers<void>();
      const patience = setTimeout(() => moments.stopWaiting(), MAX_LIFE_MS);
      moments.await(random.pick(KILL_POINTS), random.between(1, MAX_MOMENTS), () => {
        victim.ready = Promise.withResolvers();
        kill(victim);
        killed.resolve();
      });
      await killed.promise;
      clearTimeout(patience);
    }
    const targets = await Promise.all(nodes.map(({ ready }) => ready.promise));
    isOver = true;
    for (const { stopLoad } of nodes) stopLoad();
    const target = itemAt(targets, 0);
    // A gateway that begins to end the other one's work answers as it did.
    kill(itemAt(nodes, 1));
    await running[1];
    const child = nodes[0]!.process!;
    const again = new VideoLoad(target, facts, random, () => {});
    await again.createAgain();
    const tasks = await settledTasks(target, facts);
    const taken = await takeovers.times();
    child.kill("SIGTERM");
    await running[0];
    assertEquals((await child.ended).code, 0, child.log());
    const last = await start("last");
    const lastTarget = { ...target, address: itemAt(await last.until(/is ready at (\S+)/), 1) };
    await assertMirrorsOpen(await settledTasks(lastTarget, facts), facts);
    last.kill("SIGTERM");
    assertEquals((await last.ended).code, 0, last.log());

    assertNothingLost(tasks, facts);
    assertMadeOnce(tasks, facts, seen);
    assertNoStrayFiles(`${folder}/files`, tasks);
    const opened = await openPostgresStore({ url: store, clock: systemClock, log: silentLog, lock: "alone" });
    try {
      await assertMoneyExact(opened, stage, tasks);
    } finally {
      await opened.close();
    }
    if (Deno.env.has("SWITCHYARD_TEST_KILLS")) {
      const { calls } = acknowledged;
      console.log(JSON.stringify({ seed: SEED, kills: KILLS, crashes, calls, tasks: tasks.length, takeovers: taken }));
    }
    await stage.stop();
    await server.stop();
  });
}
