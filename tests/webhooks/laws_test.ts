import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { deliverHandler } from "../../src/services/webhooks/deliver.ts";
import { createAttemptLimiter } from "../../src/services/webhooks/attempt_limiter.ts";
import { createWebhooks } from "../../src/services/webhooks/webhooks.ts";
import { valueAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { end, endedTask, SECRET } from "./support.ts";

/** The outcome of one attempt: for the receiver's response, and for the waiting process. */
type AttemptOutcome =
  | { readonly crash: "before the post" | "after the post" | "after the record" | null; readonly status: number }
  | { readonly crash: "lease lost"; readonly status: number };

const outcome: fc.Arbitrary<AttemptOutcome> = fc.record({
  crash: fc.constantFrom(null, null, "before the post", "after the post", "after the record", "lease lost"),
  status: fc.constantFrom(200, 204, 500, 503, 301),
});

class Crash extends Error {}

const LEASE_MS = 30_000;

interface Sent {
  readonly key: string;
  readonly body: string;
  readonly status: number;
}

/** Plays the outcomes in order, then lets everything succeed. Returns the received requests and the final delivery. */
async function runOutcomes(outcomes: readonly AttemptOutcome[]) {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
  const egress = { allow: [], own: [], clock };
  const webhooks = createWebhooks({ store, clock, log: silentLog, egress, timeoutMs: 10_000, random: () => 0.5 });
  const ended = endedTask({ endedAt: clock.now(), callbackUrl: "https://receiver.example/" });
  await end({ store, webhooks }, ended);
  const sent: Sent[] = [];
  const left = [...outcomes];
  for (let round = 0; round < 60; round++) {
    const [job] = await store.claim(["webhook"], 1, LEASE_MS);
    if (!job) {
      if ((await webhooks.deliveries.read(ended.taskId))!.delivery.state !== "pending") break;
      clock.advance(700_000);
      continue;
    }
    const { crash, status } = left.shift() ?? { crash: null, status: 200 };
    // Each attempt has its own process: its state is lost when it crashes.
    const limiter = createAttemptLimiter({ monotonicMs: () => clock.monotonicMs(), random: () => 0.5, hungMs: 5_000 });
    const handler = deliverHandler({
      store: crashing(store, crash),
      clock,
      log: silentLog,
      limiter,
      random: () => 0.5,
      post: async (_url, { headers, body }) => {
        if (crash === "before the post") throw new Crash();
        sent.push({ key: valueAt(headers, "x-service-idempotency-key"), body: new TextDecoder().decode(body), status });
        if (crash === "lease lost") {
          clock.advance(LEASE_MS);
          await store.claim(["webhook"], 1, LEASE_MS);
        }
        return { status, bytes: 0, header: () => null };
      },
    });
    await handler(job, { signal: new AbortController().signal, renewals: 0 }).catch((error) => {
      if (!(error instanceof Crash)) throw error;
    });
  }
  const found = (await webhooks.deliveries.read(ended.taskId))!;
  const open = await store.claim(["webhook"], 1, LEASE_MS);
  await store.close();
  return { sent, found, open, body: ended };
}

/** The store of a process that crashes around its commit. */
function crashing(store: Store, crash: AttemptOutcome["crash"]): Store {
  return Object.assign(Object.create(store), {
    get: store.get.bind(store),
    now: store.now.bind(store),
    commit: async (operation: string | null, commit: Parameters<Store["commit"]>[1]) => {
      if (crash === "after the post") throw new Crash();
      const result = await store.commit(operation, commit);
      if (crash === "after the record") throw new Crash();
      return result;
    },
  });
}

Deno.test("any interleaving of crashes and rejections leads to a delivery with one key and the same bytes each time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { maxLength: 25 }), async (outcomes) => {
      const { sent, found, open } = await runOutcomes(outcomes);
      const { delivery, attempts } = found;
      assertEquals(new Set(sent.map(({ key, body }) => `${key} ${body}`)).size, Math.min(sent.length, 1));
      const acknowledged = sent.filter(({ status }) => status >= 200 && status < 300).length;
      if (delivery.state === "delivered") assert(acknowledged >= 1, "a delivery that nobody acknowledged");
      else {
        assertEquals([delivery.state, attempts.length], ["exhausted", 11]);
        assert(attempts.every(({ failure }) => failure !== null));
      }
      assertEquals(open, [], "no delivery is pending");
      assert(attempts.length <= sent.length, "an attempt was recorded that never was");
      assertEquals(attempts.map(({ number }) => number), attempts.map((_, index) => index + 1));
    }),
    { numRuns: 200 },
  );
});
