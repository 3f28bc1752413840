import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../src/billing/account.ts";
import { silentLog } from "../../src/lib/log.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Store } from "../../src/store/store.ts";
import { deliverHandler } from "../../src/webhooks/deliver.ts";
import { createAttemptLimiter } from "../../src/webhooks/attempt_limiter.ts";
import { createWebhooks } from "../../src/webhooks/webhooks.ts";
import { valueAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { end, endedTask, SECRET } from "./support.ts";

/** What happens at one attempt: to the receiver's answer, and to the process that waits for it. */
type Fate =
  | { readonly crash: "before the post" | "after the post" | "after the record" | null; readonly status: number }
  | { readonly crash: "lease lost"; readonly status: number };

const fate: fc.Arbitrary<Fate> = fc.record({
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

/** Plays the fates one after another, then lets all go well; gives what receivers saw and the story in the end. */
async function play(fates: readonly Fate[]) {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
  const egress = { allow: [], own: [], clock };
  const webhooks = createWebhooks({ store, clock, log: silentLog, egress, timeoutMs: 10_000, random: () => 0.5 });
  const ended = endedTask({ endedAt: clock.now(), callbackUrl: "https://receiver.example/" });
  await end({ store, webhooks }, ended);
  const sent: Sent[] = [];
  const left = [...fates];
  for (let round = 0; round < 60; round++) {
    const [job] = await store.claim(["webhook"], 1, LEASE_MS);
    if (!job) {
      if ((await webhooks.desk.read(ended.taskId))!.delivery.state !== "pending") break;
      clock.advance(700_000);
      continue;
    }
    const { crash, status } = left.shift() ?? { crash: null, status: 200 };
    // Each attempt is a process of its own: whatever it knew is gone when it crashes.
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
  const story = (await webhooks.desk.read(ended.taskId))!;
  const open = await store.claim(["webhook"], 1, LEASE_MS);
  await store.close();
  return { sent, story, open, body: ended };
}

/** The store as a process sees it that dies around its commit. */
function crashing(store: Store, crash: Fate["crash"]): Store {
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

Deno.test("any interleaving of crashes and refusals leads to a delivery, with one key and the same bytes each time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 25 }), async (fates) => {
      const { sent, story, open } = await play(fates);
      const { delivery, attempts } = story;
      assertEquals(new Set(sent.map(({ key, body }) => `${key} ${body}`)).size, Math.min(sent.length, 1));
      const acknowledged = sent.filter(({ status }) => status >= 200 && status < 300).length;
      if (delivery.state === "delivered") assert(acknowledged >= 1, "a delivery that nobody acknowledged");
      else {
        assertEquals([delivery.state, attempts.length], ["exhausted", 11]);
        assert(attempts.every(({ failure }) => failure !== null));
      }
      assertEquals(open, [], "nothing is owed any more");
      assert(attempts.length <= sent.length, "an attempt was recorded that never was");
      assertEquals(attempts.map(({ number }) => number), attempts.map((_, index) => index + 1));
    }),
    { numRuns: 200 },
  );
});
