import { assert, assertEquals } from "@std/assert";
import type { SeededRandom } from "../e2e/money_walk/random.ts";
import { textModel } from "./gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway_process.ts";
import { itemAt } from "./items.ts";
import { always, chatReply, startScriptedUpstream } from "./scripted_upstream.ts";

/**
 * The law of the request log after `kill -9`: every request that was acknowledged more than a second before is in it.
 * Source: docs/decisions/0069-log-of-requests.md.
 */
const LOST_MS = 1_000;

const KEY = "sk-anna-0123456789abcdef";
const CALLERS = 4;
/** A caller's pause between requests, so that all rows fit into what is read. */
const PAUSE_MS = 4;
/** The life of a gateway under load before it is killed: longer than what may be lost, so that rows must be there. */
const MIN_LIFE_MS = 1_500;
const MAX_LIFE_MS = 5_000;
const LAG_CHECK_MS = 20;

/** A request that was answered in full. */
interface Acknowledged {
  readonly id: string;
  /** When the last byte arrived, as of `performance.now()`. */
  readonly at: number;
}

/** What a law about kills needs of a store. */
export interface KilledLog {
  /** The setting `store`. */
  readonly store: string;
  readonly folder: string;
  readonly kills: number;
  readonly random: SeededRandom;
  /** Reads the ids of all rows. Rejects before the first one. */
  readIds(): Promise<ReadonlySet<string>>;
}

/** Kills gateways at random times under load, and checks the law after each kill. */
export async function assertRowsSurviveKills({ store, folder, kills, random, readIds }: KilledLog): Promise<void> {
  const vendor = startScriptedUpstream(always(chatReply("hello", { prompt: 10, completion: 5 })));
  const config = `${folder}/switchyard.json`;
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { port: 0 },
      accounts: [{ id: "demo", balance: "2500.00", keys: [KEY] }],
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
      store,
      files: `${folder}/files`,
    }),
  );
  const all: Acknowledged[] = [];
  try {
    for (let kill = 0; kill < kills; kill++) {
      const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
      const address = itemAt(await child.until(/is ready at (\S+)/), 1);
      await untilWritten(await chat(address), readIds);
      const lifeMs = random.between(MIN_LIFE_MS, MAX_LIFE_MS);
      const { killedAt, lagMs, acknowledged } = await loadUntilKilled(child, address, lifeMs);
      all.push(...acknowledged);
      // On a loaded machine the gateway's timers are as late as those of this process.
      const due = all.filter(({ at }) => at < killedAt - LOST_MS - lagMs);
      assert(due.length > 0, `kill ${kill}: nothing was acknowledged in time, with timers ${lagMs} ms late`);
      const found = await readIds();
      const lost = due.filter(({ id }) => !found.has(id));
      const ages = lost.map(({ at }) => Math.round(killedAt - at));
      assertEquals(ages, [], `kill ${kill} after ${lifeMs} ms, timers at most ${lagMs} ms late: ages of lost rows`);
      // What the kill lost stays lost, and is no fault of the next one.
      all.splice(0, all.length, ...all.filter(({ id }) => found.has(id)));
    }
  } finally {
    await vendor.stop();
  }
}

/** The first row starts the thread of the log, which takes seconds on a loaded machine. The law holds from then on. */
async function untilWritten(id: string, readIds: KilledLog["readIds"]): Promise<void> {
  while (!await readIds().then((ids) => ids.has(id), () => false)) {
    await new Promise((resolve) => setTimeout(resolve, LAG_CHECK_MS));
  }
}

async function loadUntilKilled(child: GatewayProcess, address: string, lifeMs: number) {
  const acknowledged: Acknowledged[] = [];
  let isKilled = false;
  const lag = watchLag();
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isKilled) {
      const id = await chat(address).catch((error) => {
        if (isKilled) return null;
        throw error;
      });
      if (id !== null) acknowledged.push({ id, at: performance.now() });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  });
  const loaded = Promise.all(callers);
  await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, lifeMs))]);
  isKilled = true;
  const killedAt = performance.now();
  child.kill("SIGKILL");
  await Promise.all([loaded, child.ended]);
  return { killedAt, lagMs: lag.stop(), acknowledged };
}

/** Measures by how much a timer of this process was late at most. */
function watchLag() {
  let [last, maxMs] = [performance.now(), 0];
  const look = () => {
    const now = performance.now();
    maxMs = Math.max(maxMs, now - last - LAG_CHECK_MS);
    last = now;
  };
  const timer = setInterval(look, LAG_CHECK_MS);
  return {
    stop() {
      look();
      clearInterval(timer);
      return Math.ceil(maxMs);
    },
  };
}

async function chat(address: string): Promise<string> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "hello" }] }),
  });
  await response.text();
  assertEquals(response.status, 200);
  return response.headers.get("x-service-request-id") ?? "";
}
