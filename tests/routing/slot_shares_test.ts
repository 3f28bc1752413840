import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { createAttemptSlots } from "../../src/vendors/routing/attempt_slots.ts";
import type { Slot } from "../../src/vendors/routing/slot_queue.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { WaitingLimits } from "../../src/vendors/upstreams/settings/provider_limits.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { SharedLimits } from "../support/share_leases.ts";

const MINUTE_MS = 60_000;

/** Some processes with the limits of one provider. */
function processes(count: number, limits: WaitingLimits) {
  const clock = new ManualClock();
  const shared = new SharedLimits(clock);
  const grantedAt: number[] = [];
  const nodes = Array.from({ length: count }, (_, n) => {
    const slots = createAttemptSlots(new Map([["acme", limits]]), clock, {
      leases: shared.of(String(n)),
      gateways: () => count,
    });
    const open: Slot[] = [];
    const refused: unknown[] = [];
    const onSlot = (slot: Slot) => {
      grantedAt.push(clock.monotonicMs());
      open.push(slot);
    };
    const take = (tokens = 1, account = "a") => {
      const taken = slots.take("acme", { accountId: account, tokens });
      assert(taken !== null);
      if (taken instanceof Promise) taken.then(onSlot, (error) => void refused.push(error));
      else onSlot(taken);
    };
    return { slots, open, refused, take };
  });
  return { clock, shared, nodes, grantedAt };
}

/** Lets the results of promises arrive. */
async function arrive(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
}

/** Moves the time ahead in steps, in which leases arrive. */
async function pass(clock: ManualClock, durationMs: number, stepMs = 50): Promise<void> {
  for (let at = 0; at < durationMs; at += stepMs) {
    clock.advance(stepMs);
    await arrive();
  }
}

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("take" as const), node: fc.nat(2), tokens: fc.integer({ min: 0, max: 30 }) }),
    fc.record({ do: fc.constant("end" as const), node: fc.nat(2), tokens: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(10, 500, 3_000, 8_000) }),
    fc.record({ do: fc.constant("arrive" as const) }),
  ),
  { minLength: 1, maxLength: 60 },
);

Deno.test("processes with one provider together never exceed its `concurrency` and its `rpm`", async () => {
  const limits = fc.record({
    rpm: fc.constantFrom(1, 2, 5, 1_000),
    concurrency: fc.constantFrom(1, 2, 5, 1_000),
    tpm: fc.constantFrom(20, 200, 100_000),
    maxWaitMs: fc.constantFrom(0, 1_000, 30_000),
  });
  await fc.assert(
    fc.asyncProperty(limits, steps, async (limits, steps) => {
      const { clock, nodes, grantedAt } = processes(3, limits);
      for (const step of steps) {
        if (step.do === "take") itemAt(nodes, step.node).take(step.tokens);
        else if (step.do === "end") itemAt(nodes, step.node).open.shift()?.end(step.tokens);
        else if (step.do === "wait") await pass(clock, step.ms, Math.max(1, step.ms / 8));
        else await arrive();
        const open = nodes.reduce((sum, { slots }) => sum + (slots.loadOf("acme")?.open ?? 0), 0);
        assert(open <= limits.concurrency, `${open} attempts are open`);
      }
      for (const [first, from] of grantedAt.entries()) {
        const count = grantedAt.length - first;
        const allowed = limits.rpm + (grantedAt.at(-1)! - from) * limits.rpm / MINUTE_MS;
        assert(count <= allowed + 1e-6, `${count} attempts from ${from} to ${grantedAt.at(-1)}`);
      }
    }),
    { numRuns: 400 },
  );
});

Deno.test("an attempt that may not wait gets a free slot of another process's limit", async () => {
  const { nodes } = processes(2, { concurrency: 2, maxWaitMs: 0 });
  const [a, b] = [itemAt(nodes, 0), itemAt(nodes, 1)];
  a.take();
  b.take();
  await arrive();
  assertEquals([a.open.length, b.open.length], [1, 1]);
  a.take();
  await arrive();
  assertEquals([a.open.length, a.refused.length], [1, 1]);
  assert(itemAt(a.refused, 0) instanceof UpstreamFailure);
});

Deno.test("a process that uses all slots lets another one have its part while attempts wait on both", async () => {
  for (const concurrency of [1, 2, 5]) {
    const { clock, nodes } = processes(2, { concurrency, maxWaitMs: 60_000 });
    const [a, b] = [itemAt(nodes, 0), itemAt(nodes, 1)];
    for (let n = 0; n < 40; n++) a.take();
    await arrive();
    assertEquals(a.open.length, concurrency);
    for (let n = 0; n < 40; n++) b.take();
    let ofB = 0;
    for (let round = 0; round < 12; round++) {
      await pass(clock, 1_000);
      for (const node of [a, b]) for (const slot of node.open.splice(0)) slot.end(1);
      await pass(clock, 500);
      ofB += b.open.length;
    }
    assert(ofB >= 4 * concurrency, `${ofB} of ${concurrency}`);
  }
});

Deno.test("slots that a process does not use are returned within seconds, and at its end", async () => {
  const { clock, nodes } = processes(2, { concurrency: 40, maxWaitMs: 0 });
  const [a, b] = [itemAt(nodes, 0), itemAt(nodes, 1)];
  for (let n = 0; n < 10; n++) a.take();
  await arrive();
  for (const slot of a.open.splice(0)) slot.end(1);
  await pass(clock, 6_000, 500);
  for (let n = 0; n < 40; n++) b.take();
  await arrive();
  assertEquals([b.open.length, b.refused.length], [40, 0]);
  for (const slot of b.open.splice(0)) slot.end(1);
  await b.slots.close();
  for (let n = 0; n < 40; n++) a.take();
  await arrive();
  assertEquals([a.open.length, a.refused.length], [40, 0]);
});

Deno.test("without the store attempts are refused, and made again when it is back", async () => {
  const { clock, shared, nodes } = processes(2, { rpm: 60, maxWaitMs: 0 });
  const a = itemAt(nodes, 0);
  shared.before = () => Promise.reject(new Error("down"));
  a.take();
  await arrive();
  assertEquals([a.open.length, a.refused.length], [0, 1]);
  await assertRejects(() => Promise.reject(itemAt(a.refused, 0)), UpstreamFailure, "requests per minute");
  shared.before = () => Promise.resolve();
  clock.advance(1_000);
  a.take();
  await arrive();
  assertEquals(a.open.length, 1);
});

Deno.test("an attempt of a provider far from its limits needs no statement", async () => {
  const { shared, nodes } = processes(2, { concurrency: 1_000, maxWaitMs: 0 });
  const a = itemAt(nodes, 0);
  a.take();
  await arrive();
  for (let n = 0; n < 50; n++) a.take();
  await arrive();
  assertEquals([a.open.length, shared.demands], [51, 1]);
});
