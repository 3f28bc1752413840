import { assert, assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { newApiKey } from "../../../src/billing/api_key.ts";
import { listLedger } from "../../../src/billing/ledger.ts";
import { verifyLedger } from "../../../src/billing/verify_ledger.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { type Money, readMoney } from "../../../src/lib/money.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import type { EmbeddedStore } from "../../../src/store/embedded.ts";
import { openKvStore } from "../../../src/store/kv.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY, LOOPBACK_ROOT } from "../../support/loopback_certificate.ts";
import { ALL_MODES } from "../../support/video_gateway.ts";
import { type Acknowledged, Load, nothingAcknowledged, PRICES } from "./load.ts";

/** More by the environment: each takes one to two seconds. */
const KILLS = Number(Deno.env.get("SWITCHYARD_TEST_KILLS") ?? "5");
const MAX_CALLS_A_ROUND = 40;
const VIDEOS_A_ROUND = 3;
const START_BALANCE = "1000";

type Kind = "text" | "image" | "cache";

Deno.test("kill -9 under mixed load: acknowledged <= charged <= counted by the vendor, and nothing is left held", async () => {
  const asked: Record<Kind, number> = { text: 0, image: 0, cache: 0 };
  const made = new Map<string, number>();
  const sandbox = await startSandbox({
    port: 0,
    record({ method, path, body }) {
      if (method !== "POST") return;
      if (path.endsWith("/messages")) asked.text++;
      else if (path.endsWith("/images/generations")) asked.image++;
      else if (path.endsWith("/cachedContents")) asked.cache++;
      const id = (body as { safety_identifier?: string } | null)?.safety_identifier;
      if (path.endsWith("/tasks") && id) made.set(id, (made.get(id) ?? 0) + 1);
    },
  });
  const events = new Map<string, number>();
  const receiver = startEventReceiver(events);
  const folder = await Deno.makeTempDir();
  const [key, adminKey] = [newApiKey(), newApiKey()];
  await Deno.writeTextFile(`${folder}/root.pem`, LOOPBACK_ROOT);
  const config = `${folder}/switchyard.json`;
  await Deno.writeTextFile(config, JSON.stringify(configOf(sandbox.baseUrls, { folder, key, adminKey })));
  const acknowledged = nothingAcknowledged();
  const callbackUrl = `https://127.0.0.1:${receiver.addr.port}/events`;
  let numbered = 0;

  for (let round = 0; round < KILLS; round++) {
    const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
    const load = new Load({ address: await addressOf(child), key, callbackUrl }, acknowledged);
    const unanswered = namesUpTo(numbered).filter((name) => !acknowledged.videos.has(name));
    const fresh = Array.from({ length: VIDEOS_A_ROUND }, () => String(++numbered));
    const running = load.run([...unanswered, ...fresh]);
    await load.reached(1 + Math.floor(Math.random() * MAX_CALLS_A_ROUND));
    load.stop();
    child.kill("SIGKILL");
    await Promise.all([running, child.ended]);
  }

  const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
  const address = await addressOf(child);
  const load = new Load({ address, key, callbackUrl }, acknowledged);
  const running = load.run(namesUpTo(numbered).filter((name) => !acknowledged.videos.has(name)));
  await load.reached(MAX_CALLS_A_ROUND);
  load.stop();
  await running;
  const ended = await endedTasks({ address, key }, [...acknowledged.videos.values()]);
  await receiver.received(acknowledged.videos.size);
  child.kill("SIGTERM");
  assertEquals((await child.ended).code, 0, child.log());

  const store = await openKvStore({ path: `${folder}/store.db`, clock: systemClock, log: silentLog });
  try {
    const charged = await chargedIn(store);
    assertEquals((await verifyLedger(store)).differences, []);
    const balance = await store.balance("demo");
    assertEquals(balance.held, 0n, "nothing is held at the end");
    for (const kind of ["text", "image", "cache"] as const) {
      const facts = `${kind}: ${JSON.stringify({ acknowledged: acknowledged.calls[kind], asked: asked[kind] })}`;
      assertGreater(acknowledged.calls[kind], 0, facts);
      assertLessOrEqual(acknowledged.cost[kind], charged[kind].cost, `acknowledged <= charged, ${facts}`);
      assertLessOrEqual(charged[kind].calls, asked[kind], `charged <= asked, ${facts}`);
      const each = costOfOne(kind, acknowledged);
      assertLessOrEqual(charged[kind].cost, BigInt(asked[kind]) * each, `charged <= counted by the vendor, ${facts}`);
      assertEquals(charged[kind].requests.size, charged[kind].calls, `no request is charged twice, ${facts}`);
    }
    const videoCost = ended.reduce((sum, { cost }) => sum + cost, 0n);
    const total = charged.text.cost + charged.image.cost + charged.cache.cost + videoCost;
    assertEquals(balance.available, readMoney(START_BALANCE) - total, "the balance is what the ledger says");
  } finally {
    await store.close();
  }
  for (const id of acknowledged.videos.values()) {
    assertEquals(made.get(id), 1, `the vendor was asked for task ${id} once`);
    assertGreater(events.get(`${id}-completed`) ?? 0, 0, `the event of task ${id} arrived`);
  }
  assertEquals(acknowledged.videos.size, numbered, "each video was acknowledged in the end");
  await receiver.shutdown();
  await sandbox.stop();
  await Deno.remove(folder, { recursive: true });
});

function configOf(
  { anthropic, google, ark }: { readonly anthropic: string; readonly google: string; readonly ark: string },
  { folder, key, adminKey }: { readonly folder: string; readonly key: string; readonly adminKey: string },
): unknown {
  const { textRequest, textToken, image, cacheToken, videoSecond } = PRICES;
  return {
    server: { port: 0, admin_key: adminKey },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: START_BALANCE, keys: [key] }],
    providers: {
      anthropic: { kind: "anthropic", base_url: anthropic, api_key: "sandbox-key" },
      google: { kind: "google", base_url: google, api_key: "sandbox-key" },
      ark: { kind: "ark", base_url: ark, api_key: "sandbox-key" },
    },
    models: [
      {
        id: "load/text",
        pricing: { request: textRequest, completion: textToken },
        serves: served("anthropic", "text"),
      },
      {
        id: "load/image",
        pricing: { per_image: image },
        image: { series: "reference" },
        serves: served("ark", "seedream-5-0-pro"),
      },
      {
        id: "load/cache",
        context_length: 128_000,
        pricing: { prompt: cacheToken },
        serves: served("google", "content"),
      },
      {
        id: "load/video",
        video: { modes: ALL_MODES, price_per_second: { default: videoSecond } },
        serves: served("ark", "seedance-sandbox"),
      },
    ],
    limits: {
      video_doubt: 3,
      vendor_polling: { first: 0.05, least: 0.05, most: 0.2, per_second: 1_000 },
      video_polling: { requests: 1_000_000, per: 1, burst: 1_000_000 },
    },
    egress: { allow: ["127.0.0.1/32"], ca_file: `${folder}/root.pem` },
  };
}

function served(provider: string, model: string) {
  return [{ provider, model }];
}

function namesUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at + 1));
}

async function addressOf(child: GatewayProcess): Promise<string> {
  return (await child.until(/is ready at (\S+)/))[1];
}

/** A receiver that refuses every fifth event, so that kills fall between retries too. */
function startEventReceiver(events: Map<string, number>) {
  let asked = 0;
  let wanted = Infinity;
  const enough = Promise.withResolvers<void>();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: LOOPBACK_CERTIFICATE,
    key: LOOPBACK_KEY,
    onListen() {},
  }, async (request) => {
    await request.body?.cancel();
    if (++asked % 5 === 0) return new Response(null, { status: 503 });
    const key = request.headers.get("x-service-idempotency-key") ?? "";
    events.set(key, (events.get(key) ?? 0) + 1);
    if (events.size >= wanted) enough.resolve();
    return new Response(null, { status: 204 });
  });
  return {
    addr: server.addr,
    shutdown: () => server.shutdown(),
    /** Resolves once this many different events were accepted. */
    received(count: number): Promise<void> {
      wanted = count;
      if (events.size >= count) enough.resolve();
      return enough.promise;
    },
  };
}

/** The cost of each task once it has ended. */
async function endedTasks(
  { address, key }: { readonly address: string; readonly key: string },
  ids: readonly string[],
): Promise<{ readonly status: string; readonly cost: Money }[]> {
  return await Promise.all(ids.map(async (id) => {
    for (;;) {
      const answer = await fetch(`${address}/v1/videos/${id}`, { headers: { authorization: `Bearer ${key}` } });
      const task = await answer.json();
      assert(answer.ok, `task ${id} is known: ${JSON.stringify(task)}`);
      if (task.status !== "pending") return { status: task.status, cost: readMoney(task.usage.video_cost) };
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }));
}

interface Charged {
  calls: number;
  cost: Money;
  readonly requests: Set<string>;
}

/** What the ledger charged, by kind. */
async function chargedIn(store: EmbeddedStore): Promise<Record<Kind, Charged>> {
  const nothing = (): Charged => ({ calls: 0, cost: 0n, requests: new Set() });
  const charged: Record<string, Charged> = { text: nothing(), image: nothing(), cache: nothing() };
  let after: string | undefined;
  do {
    const { lines, next } = await listLedger(store, "demo", { after, limit: 100 });
    for (const { kind, amount, requestId } of lines.flatMap(({ rows }) => rows)) {
      charged[kind].calls++;
      charged[kind].cost += amount;
      charged[kind].requests.add(requestId);
    }
    after = next ?? undefined;
  } while (after !== undefined);
  return charged as Record<Kind, Charged>;
}

/** All calls of a kind are alike, so each costs what an acknowledged one cost. */
function costOfOne(kind: Kind, { calls, cost }: Acknowledged): Money {
  assertEquals(cost[kind] % BigInt(calls[kind]), 0n, `all ${kind} calls cost the same`);
  return cost[kind] / BigInt(calls[kind]);
}
