import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { MAX_WAITING, type Slot, SlotQueue } from "../../src/vendors/routing/slot_queue.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { WaitingLimits } from "../../src/vendors/upstreams/settings/provider_limits.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";

const MINUTE_MS = 60_000;

/** A queue whose grants and refusals are recorded in order. */
function recordedQueue(limits: Partial<WaitingLimits>) {
  const clock = new ManualClock();
  const queue = new SlotQueue("acme", { maxWaitMs: 5_000, ...limits }, clock);
  const granted: { readonly account: string; readonly at: number; readonly tokens: number }[] = [];
  const refused: UpstreamFailure[] = [];
  const open: Slot[] = [];
  const take = (account: string, tokens = 1, signal?: AbortSignal) => {
    const onSlot = (slot: Slot) => {
      granted.push({ account, at: clock.monotonicMs(), tokens });
      open.push(slot);
    };
    const callerSignal = signal === undefined ? undefined : () => signal;
    const taken = queue.take({ accountId: account, tokens, callerSignal });
    if (taken instanceof Promise) taken.then(onSlot, (error) => void refused.push(error));
    else onSlot(taken);
  };
  return { clock, queue, granted, refused, open, take };
}

/** Lets the results of promises arrive. */
async function arrive(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

type Step =
  | { readonly do: "take"; readonly account: string; readonly tokens: number }
  | { readonly do: "end"; readonly index: number; readonly usedTokens: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "leave"; readonly index: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("take" as const),
      account: fc.constantFrom("a", "b", "c"),
      tokens: fc.integer({ min: 0, max: 40 }),
    }),
    fc.record({ do: fc.constant("end" as const), index: fc.nat(9), usedTokens: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
    fc.record({ do: fc.constant("leave" as const), index: fc.nat(9) }),
  ),
  { minLength: 1, maxLength: 80 },
);

const limits: fc.Arbitrary<WaitingLimits> = fc.record({
  rpm: fc.integer({ min: 1, max: 30 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  maxWaitMs: fc.constantFrom(0, 1_000, 30_000),
});

Deno.test("a slot queue never opens more slots than `concurrency`, nor takes more per minute than `rpm`", async () => {
  await fc.assert(
    fc.asyncProperty(limits, steps, async (limits, steps) => {
      const { clock, queue, granted, refused, open, take } = recordedQueue(limits);
      const callers: AbortController[] = [];
      let taken = 0;
      for (const step of steps) {
        if (step.do === "take") {
          const caller = new AbortController();
          callers.push(caller);
          take(step.account, step.tokens, caller.signal);
          taken++;
        } else if (step.do === "end") open.splice(step.index, 1)[0]?.end(step.usedTokens);
        else if (step.do === "wait") clock.advance(step.ms);
        else callers[step.index]?.abort();
        await Promise.resolve();
        assert(queue.open <= limits.concurrency!);
        assert(queue.waiting <= MAX_WAITING);
      }
      await arrive();
      for (const slot of open.splice(0)) slot.end(0);
      clock.advance(limits.maxWaitMs);
      await arrive();
      assertEquals(granted.length + refused.length, taken, "each attempt is granted or refused in time");
      assertEquals(queue.waiting, 0);
      assertRate(granted.map(({ at }) => at), limits.rpm!);
    }),
    { numRuns: 300 },
  );
});

/** In any span of time, no more are granted than a full bucket and what it earns in that time. */
function assertRate(instants: readonly number[], perMinute: number): void {
  for (const [first, from] of instants.entries()) {
    for (let last = first; last < instants.length; last++) {
      const spanMs = itemAt(instants, last) - from;
      assert(last - first + 1 <= perMinute * (1 + spanMs / MINUTE_MS) + 1e-6);
    }
  }
}

Deno.test("a slot queue grants no attempt before the tokens of earlier ones are earned", async () => {
  const uses = fc.array(fc.record({ estimate: fc.nat(60), used: fc.nat(200), openMs: fc.nat(40_000) }), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(uses, fc.integer({ min: 40, max: 100 }), async (uses, tpm) => {
      const { clock, granted, open, take } = recordedQueue({ tpm, maxWaitMs: 600_000 });
      let used = 0;
      for (const each of uses) {
        const before = granted.length;
        const level = used;
        take("a", each.estimate);
        for (let waited = 0; granted.length === before && waited < 100; waited++) {
          clock.advance(4_000);
          await arrive();
        }
        const at = itemAt(granted, before).at;
        // What was used before was in the bucket at first, or was earned by now.
        assert(level <= tpm * (1 + at / MINUTE_MS), `${level} tokens were used by ${at} ms`);
        clock.advance(each.openMs);
        open.pop()?.end(each.used);
        used += each.used;
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("a slot queue serves each of k waiting accounts within k slots", async () => {
  const arrivals = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 3 }), async (arrivals, concurrency) => {
      const { queue, granted, open, take } = recordedQueue({ concurrency });
      for (let index = 0; index < concurrency; index++) take("occupant");
      for (const account of arrivals) take(account);
      const left = new Map<string, number>();
      for (const account of arrivals) left.set(account, (left.get(account) ?? 0) + 1);
      const served: string[] = [];
      while (queue.waiting > 0) {
        open.shift()!.end(1);
        await arrive();
        const { account } = granted.at(-1)!;
        const sinceLast = served.slice(served.lastIndexOf(account) + 1);
        const isAgain = served.includes(account);
        // An account that is served again has let every other waiting account go first.
        if (isAgain) { for (const other of left.keys()) assert(other === account || sinceLast.includes(other)); }
        served.push(account);
        const rest = left.get(account)! - 1;
        if (rest === 0) left.delete(account);
        else left.set(account, rest);
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("an attempt that finds a free slot gets it without a promise", () => {
  const queue = new SlotQueue("acme", { concurrency: 1, maxWaitMs: 5_000 }, new ManualClock());
  assert(!(queue.take({ accountId: "a", tokens: 0 }) instanceof Promise));
});

Deno.test("an attempt that waits too long is refused like a vendor's 429, with the limit and the time to wait", async () => {
  for (
    const [limits, name, retryAfterSeconds] of [
      [{ concurrency: 1 }, "concurrent requests", 1],
      [{ rpm: 1 }, "requests per minute", 60],
      [{ tpm: 10 }, "tokens per minute", 60],
    ] as const
  ) {
    const { clock, queue, granted, refused, take } = recordedQueue(limits);
    take("a", 10);
    take("b", 10);
    clock.advance(5_000);
    await arrive();
    assertEquals([granted.length, queue.waiting], [1, 0]);
    const { kind, message, provider, facts, blame } = itemAt(refused, 0);
    assertEquals([kind, provider, facts.accepted, blame], ["rate_limited", "acme", "no", "service"]);
    assertEquals(facts.retryAfterSeconds, retryAfterSeconds);
    assertStringIncludes(message, name);
  }
});

Deno.test("an attempt whose caller disconnects frees its place in the queue", async () => {
  const { queue, refused, granted, open, take } = recordedQueue({ concurrency: 1 });
  const caller = new AbortController();
  take("a");
  take("b", 1, caller.signal);
  take("c");
  caller.abort();
  await arrive();
  assertEquals([refused.map(({ kind }) => kind), queue.waiting], [["cancelled"], 1]);
  open[0]!.end(1);
  await arrive();
  assertEquals(granted.map(({ account }) => account), ["a", "c"]);
});

Deno.test("an account leaves places in the queue for others", async () => {
  const { queue, refused, granted, open, take } = recordedQueue({ concurrency: 1 });
  take("a");
  for (let index = 0; index < 2 * MAX_WAITING; index++) take("a");
  await arrive();
  assertEquals(refused.length, 2 * MAX_WAITING - MAX_WAITING / 2);
  for (let index = 0; index < 10; index++) take("b");
  assertEquals(queue.waiting, MAX_WAITING / 2 + 10);
  open.shift()!.end(1);
  open.shift()?.end(1);
  await arrive();
  open.shift()!.end(1);
  await arrive();
  assert(granted.some(({ account }) => account === "b"));
});

Deno.test("an attempt that used more tokens than the bucket holds delays the next one until they are earned", async () => {
  const { clock, granted, open, refused, take } = recordedQueue({ tpm: 100, maxWaitMs: 300_000 });
  take("a", 10);
  open[0]!.end(250);
  take("a", 50);
  clock.advance(2 * MINUTE_MS - 1);
  await arrive();
  assertEquals(granted.length, 1);
  clock.advance(1);
  await arrive();
  assertEquals([granted.length, refused.length], [2, 0]);
});

Deno.test("an attempt that failed gives its tokens back, but none that the bucket has earned since", async () => {
  const { clock, granted, open, take } = recordedQueue({ tpm: 60, maxWaitMs: 0 });
  take("a", 60);
  open[0]!.end(0);
  take("a", 60);
  assertEquals(granted.length, 2);
  clock.advance(30_000);
  open[1]!.end(0);
  take("a", 60);
  assertEquals(granted.length, 3);
  clock.advance(MINUTE_MS);
  take("a", 60);
  open.pop()!.end(0);
  await arrive();
  take("a", 1);
  assertEquals(granted.length, 5);
});

Deno.test("a slot that is returned twice counts once", async () => {
  const { queue, open, take } = recordedQueue({ concurrency: 2 });
  take("a");
  take("a");
  open[0]!.end(1);
  open[0]!.end(1);
  assertEquals(queue.open, 1);
  await assertRejects(async () => {
    take("a");
    await queue.take({ accountId: "a", tokens: 1, callerSignal: () => AbortSignal.abort() });
  }, UpstreamFailure);
});

Deno.test("new limits apply at once to attempts that wait, and open slots still count", async () => {
  const { queue, granted, open, take } = recordedQueue({ concurrency: 1 });
  for (const account of ["a", "b", "c"]) take(account);
  queue.setLimits({ concurrency: 2, maxWaitMs: 5_000 });
  await arrive();
  assertEquals([granted.length, queue.open, queue.waiting], [2, 2, 1]);
  queue.setLimits({ concurrency: 1, maxWaitMs: 5_000 });
  open[0]!.end(1);
  await arrive();
  assertEquals([granted.length, queue.open, queue.waiting], [2, 1, 1]);
});

Deno.test("no slot goes to an account that holds its share while an account below its share waits", async () => {
  const accounts = ["a", "b", "c", "d"];
  const actions = fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ take: fc.constantFrom(...accounts) }) },
      { weight: 1, arbitrary: fc.record({ end: fc.nat(7) }) },
    ),
    { minLength: 1, maxLength: 80 },
  );
  await fc.assert(
    fc.asyncProperty(actions, fc.integer({ min: 1, max: 6 }), async (actions, concurrency) => {
      const { queue, granted, open, take } = recordedQueue({ concurrency });
      const waiting: string[] = [];
      const held: string[] = [];
      for (const action of actions) {
        const before = granted.length;
        if ("take" in action) {
          waiting.push(action.take);
          take(action.take);
        } else if (open.length > 0) {
          const index = action.end % open.length;
          held.splice(index, 1);
          open.splice(index, 1)[0]!.end(1);
        }
        await arrive();
        for (const { account } of granted.slice(before)) {
          const share = Math.max(1, Math.floor(concurrency / new Set([...held, ...waiting]).size));
          const heldBy = (name: string) => held.filter((each) => each === name).length;
          const below = waiting.filter((each) => heldBy(each) < share);
          assert(below.length === 0 || below.includes(account), `${account} got the slot of one of ${below}`);
          waiting.splice(waiting.indexOf(account), 1);
          held.push(account);
        }
        assertEquals(queue.open, held.length);
        assert(waiting.length === 0 || queue.open === concurrency, "a slot is free while an attempt waits");
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("an account with long replies gets no further slot while another account waits", async () => {
  const { granted, open, take } = recordedQueue({ concurrency: 4 });
  for (let index = 0; index < 4; index++) take("long");
  for (let index = 0; index < 4; index++) take("long");
  take("short");
  take("short");
  for (let served = 0; served < 2; served++) {
    open.shift()!.end(1);
    await arrive();
  }
  assertEquals(granted.slice(4).map(({ account }) => account), ["short", "short"]);
});
