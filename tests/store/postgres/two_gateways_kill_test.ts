import { assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/billing/api_key.ts";
import { verifyLedger } from "../../../src/billing/verify_ledger.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { readMoney } from "../../../src/lib/money.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { openPostgresStore } from "../../../src/store/postgres/open_postgres_store.ts";
import { assertCallsPaid } from "../../e2e/kills/call_laws.ts";
import { configOf, START_BALANCE } from "../../e2e/kills/config.ts";
import { KILL_POINTS, KillPoints } from "../../e2e/kills/kill_points.ts";
import { type CallKind, Load, type LoadTarget, nothingAcknowledged } from "../../e2e/kills/load.ts";
import { startEventReceiver } from "../../e2e/kills/receiver.ts";
import { VideoFacts } from "../../e2e/kills/video_facts.ts";
import {
  assertMadeOnce,
  assertMirrorsOpen,
  assertNoStrayFiles,
  assertNothingLost,
  assertVideosPaid,
  settledTasks,
} from "../../e2e/kills/video_laws.ts";
import { VideoLoad } from "../../e2e/kills/video_load.ts";
import { SeenVideos } from "../../e2e/kills/video_vendors.ts";
import { SeededRandom } from "../../e2e/money_walk/random.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { LOOPBACK_ROOT } from "../../support/loopback_certificate.ts";
import { isPostgresWanted, startPostgres } from "../../support/postgres_server.ts";

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
  /** Ends its load. */
  stopLoad: () => void;
  /** Resolves when it is ready again after a kill. */
  ready: PromiseWithResolvers<LoadTarget>;
}

if (isPostgresWanted) {
  Deno.test(`kill -9 of two gateways and of their database under mixed load: nothing is lost, submitted or charged twice, or left held (seed ${SEED})`, async () => {
    const server = await startPostgres();
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
    const store = server.url("postgres");
    await Deno.writeTextFile(`${folder}/root.pem`, LOOPBACK_ROOT);
    const config = configOf(sandbox.baseUrls, { folder, key, adminKey, durability: "power" });
    await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify({ ...config as object, store }));
    const acknowledged = nothingAcknowledged();
    let numbered = 0;
    let isOver = false;
    let outageUntil = -Infinity;
    const mayFail = (status: number) => status >= 500 && performance.now() < outageUntil;
    const nodes: Node[] = [0, 1].map(() => ({
      process: null,
      stopLoad: () => {},
      ready: Promise.withResolvers(),
    }));

    /** Starts a gateway with load, again after each kill. */
    async function run(node: Node): Promise<void> {
      while (!isOver) {
        const child = startGatewayProcess({ args: ["serve", "--config", `${folder}/switchyard.json`], folder });
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

    const running = nodes.map((node) => run(node));
    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.all(nodes.map(({ ready }) => ready.promise));
      if (kill % KILLS_PER_CRASH === 3) {
        outageUntil = performance.now() + OUTAGE_MS;
        await server.crash();
        outageUntil = performance.now() + OUTAGE_MS;
      }
      const victim = random.pick(nodes);
      const killed = Promise.withResolvers<void>();
      const patience = setTimeout(() => moments.stopWaiting(), MAX_LIFE_MS);
      moments.await(random.pick(KILL_POINTS), random.between(1, MAX_MOMENTS), () => {
        victim.ready = Promise.withResolvers();
        victim.process?.kill("SIGKILL");
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
    itemAt(nodes, 1).process?.kill("SIGKILL");
    await running[1];
    const child = nodes[0]!.process!;
    const again = new VideoLoad(target, facts, random, () => {});
    await again.createAgain();
    const tasks = await settledTasks(target, facts);
    child.kill("SIGTERM");
    await running[0];
    assertEquals((await child.ended).code, 0, child.log());
    const last = startGatewayProcess({ args: ["serve", "--config", `${folder}/switchyard.json`], folder });
    const lastTarget = { ...target, address: itemAt(await last.until(/is ready at (\S+)/), 1) };
    await assertMirrorsOpen(await settledTasks(lastTarget, facts), facts);
    last.kill("SIGTERM");
    assertEquals((await last.ended).code, 0, last.log());

    assertNothingLost(tasks, facts);
    assertMadeOnce(tasks, facts, seen);
    assertNoStrayFiles(`${folder}/files`, tasks);
    const opened = await openPostgresStore({ url: store, clock: systemClock, log: silentLog, lock: "alone" });
    try {
      assertEquals((await verifyLedger(opened)).differences, []);
      const spent = await assertCallsPaid(opened, "demo", acknowledged, asked) +
        await assertVideosPaid(opened, "demo", tasks, facts);
      const balance = await opened.balance("demo");
      assertEquals(balance.held, 0n, "nothing is held at the end");
      assertEquals(balance.available, readMoney(START_BALANCE) - spent, "the balance is what the ledger says");
    } finally {
      await opened.close();
    }
    if (Deno.env.has("SWITCHYARD_TEST_KILLS")) {
      console.log(JSON.stringify({ seed: SEED, kills: KILLS, calls: acknowledged.calls, tasks: tasks.length }));
    }
    await receiver.stop();
    await sandbox.stop();
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  });
}
