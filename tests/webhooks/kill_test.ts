import { assert, assertEquals, assertGreater } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { createWebhooks } from "../../src/services/webhooks/webhooks.ts";
import { fastClock } from "./fast_clock.ts";
import { LOOPBACK, type Received, respondWith, startReceiver } from "./receiver.ts";
import { end, endedTask, SECRET } from "./support.ts";
import { longTest } from "../support/long_test.ts";

const DELIVERIES = 500;
/** The environment can set more: each takes about a second. */
const KILLS = Number(Deno.env.get("SWITCHYARD_TEST_KILLS") ?? "12");
const SPEED = 20;
const LIFE_MS = 900;

longTest("kill -9 around a receiver's response loses no event, and repeats have the same key and bytes", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/store.db`;
  const startMs = Date.now();
  const clock = fastClock(startMs, SPEED);
  const killer = { child: null as Deno.ChildProcess | null, afterAnswers: Infinity };
  const attemptCounts = new Map<string, number>();
  const acknowledged = new Map<string, number>();

  const receiver = startReceiver(async (request, connection) => {
    const key = keyOf(request);
    const turn = (attemptCounts.get(key) ?? 0) + 1;
    attemptCounts.set(key, turn);
    const isRefused = (turn + key.charCodeAt(0)) % 3 === 0;
    if (!isRefused) acknowledged.set(key, (acknowledged.get(key) ?? 0) + 1);
    await respondWith(isRefused ? 503 : 200)(request, connection);
    if (--killer.afterAnswers === 0) kill(killer.child); // the response is sent, its record is not written
  });

  await endTask(path, receiver.port);
  let kills = 0;
  for (; kills < KILLS; kills++) {
    const child = start(path, startMs);
    killer.child = child;
    const lines = linesOf(child);
    assertEquals((await lines.next()).value, "begun");
    killer.afterAnswers = 1 + Math.floor(Math.random() * 25);
    const patience = setTimeout(() => kill(child), 50 + Math.random() * 400);
    const { value } = await lines.next();
    clearTimeout(patience);
    await child.status;
    if (value === "done") break;
  }
  killer.afterAnswers = Infinity;
  const last = start(path, startMs);
  for await (const line of linesOf(last)) assert(["begun", "done"].includes(line));
  assertEquals((await last.status).code, 0);

  const store = await openKvStore({ path, clock, log: silentLog });
  const { deliveries: admin } = webhooksOn(store, clock);
  for (const key of new Set(receiver.received.map(keyOf))) {
    const found = (await admin.read(key.slice(0, 36)))!;
    assertEquals(found.delivery.state, "delivered", `${key}: ${JSON.stringify(found.attempts)}`);
    assertGreater(acknowledged.get(key) ?? 0, 0);
    const bodies = receiver.received.filter((each) => keyOf(each) === key).map(({ body }) =>
      new TextDecoder().decode(body)
    );
    assertEquals(new Set(bodies).size, 1);
  }
  await store.close();
  await receiver.stop();
  await Deno.remove(folder, { recursive: true });
  assertEquals(attemptCounts.size, DELIVERIES, "every event was sent");
  assertGreater(kills, KILLS / 3);

  /** Ends tasks spread over the following runs. */
  async function endTask(path: string, port: number): Promise<void> {
    const store = await openKvStore({ path, clock, log: silentLog });
    await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
    const webhooks = webhooksOn(store, clock);
    const spacingMs = KILLS * LIFE_MS * SPEED / DELIVERIES;
    const callbackUrl = `https://receiver.example:${port}/`;
    await Promise.all(
      Array.from(
        { length: DELIVERIES },
        (_, n) =>
          end({ store, webhooks }, endedTask({ endedAt: Math.floor(clock.now() + n * spacingMs), callbackUrl })),
      ),
    );
    await store.close();
  }
});

function webhooksOn(store: Awaited<ReturnType<typeof openKvStore>>, clock: ReturnType<typeof fastClock>) {
  return createWebhooks({
    store,
    clock,
    log: silentLog,
    egress: LOOPBACK,
    timeoutMs: 10_000,
    random: Math.random,
  });
}

function keyOf({ headers }: Received): string {
  return headers.get("x-service-idempotency-key")!;
}

function start(path: string, startMs: number): Deno.ChildProcess {
  const child = new URL("./deliverer_child.ts", import.meta.url).pathname;
  const permissions = [
    "--allow-read",
    `--allow-write=${path.slice(0, path.lastIndexOf("/"))}`,
    "--allow-net=127.0.0.1",
  ];
  const args = ["run", "--quiet", "--no-check", "--unstable-kv", "--allow-env", ...permissions, child, path];
  return new Deno.Command(Deno.execPath(), { args: [...args, String(startMs), String(SPEED)], stdout: "piped" })
    .spawn();
}

async function* linesOf(child: Deno.ChildProcess): AsyncGenerator<string> {
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
      yield text.slice(0, at);
      text = text.slice(at + 1);
    }
  }
}

function kill(child: Deno.ChildProcess | null): void {
  try {
    child?.kill("SIGKILL");
  } catch {
    // It has exited by itself.
  }
}
