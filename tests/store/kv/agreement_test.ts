import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { itemAt } from "../../support/items.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import type { StoreEngine } from "../../../src/platform/store/engine.ts";
import type { Commit, Job, Key, Version } from "../../../src/platform/store/store.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const LEASE_MS = 100;
const KEYS: readonly Key[] = [["k", 0], ["k", "0"], ["k", 1]];
const ACCOUNTS = ["a", "b"];

const place = fc.nat(2);
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 2 });
const amount = fc.bigInt({ min: -6n, max: 9n });

/** A commit without versions and ids, which differ between engines. */
const plan = fc.record({
  operation: fc.option(fc.constantFrom("one", "two", "three"), { freq: 2 }),
  check: few(fc.record({ key: place, version: fc.constantFrom("absent", "current", "first") })),
  set: few(fc.record({ key: place, value: fc.nat(9), ttlMs: fc.option(fc.nat(200), { nil: undefined }) })),
  delete: few(place),
  move: few(
    fc.record({ account: fc.constantFrom(...ACCOUNTS), available: amount, held: amount, overdraw: fc.boolean() }),
  ),
  ledger: few(
    fc.record({ account: fc.constantFrom(...ACCOUNTS), reference: fc.nat(12).map(String), available: amount }),
  ),
  add: few(fc.record({ kind: fc.constantFrom("x", "y"), ref: place.map(String), delayMs: fc.nat(60) })),
  settle: few(fc.nat(5)),
  postpone: few(fc.record({ job: fc.nat(5), delayMs: fc.nat(60), attempt: fc.nat(3) })),
}, { requiredKeys: ["operation"] });

type Plan = Partial<typeof plan extends fc.Arbitrary<infer P> ? P : never>;

const step = fc.oneof(
  fc.record({ commits: fc.array(plan, { minLength: 1, maxLength: 5 }) }),
  fc.record({ claim: fc.integer({ min: 0, max: 3 }), kinds: fc.subarray(["x", "y"]) }),
  fc.record({ renew: few(fc.nat(5)) }),
  fc.record({ advanceMs: fc.nat(120) }),
);

Deno.test("the Deno KV engine and the memory store have the same results for any sequence of parallel commits and claims", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const clock = new ManualClock();
      const memory = new Player(await openMemoryStore({ clock }));
      const kv = new Player(await openKvStore({ path: ":memory:", clock, log: silentLog }));
      try {
        for (const step of steps) {
          if ("advanceMs" in step) clock.advance(step.advanceMs);
          else assertEquals(await kv.play(step), await memory.play(step));
          assertEquals(await kv.state(), await memory.state());
        }
      } finally {
        await memory.store.close();
        await kv.store.close();
      }
    }),
    { numRuns: 60 },
  );
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Runs the steps on one engine and returns the results without versions and ids. */
class Player {
  readonly #firstVersions = new Map<number, Version>();
  readonly #jobs: Job[] = [];

  constructor(readonly store: StoreEngine) {}

  async play(step: Step): Promise<unknown> {
    if ("commits" in step) return await this.#commitAll(step.commits);
    if ("claim" in step) return this.#told(await this.store.claim(step.kinds, step.claim, LEASE_MS));
    if ("renew" in step) {
      return this.#told(await this.store.renew(step.renew.flatMap((n) => this.#jobs[n] ?? []), LEASE_MS));
    }
    return null;
  }

  async state(): Promise<unknown> {
    const values = await this.store.scan(["k"], { limit: 10 });
    const lines = await Promise.all(ACCOUNTS.map((account) => this.store.ledger(account, { limit: 100 })));
    const balances = await Promise.all(ACCOUNTS.map((account) => this.store.balance(account)));
    return { values: values.map(({ key, value }) => ({ key, value })), lines, balances };
  }

  async #commitAll(plans: readonly Plan[]): Promise<unknown> {
    const current = (await this.store.get(KEYS)).map((entry) => entry?.version ?? null);
    current.forEach((version, i) => {
      if (version !== null && !this.#firstVersions.has(i)) this.#firstVersions.set(i, version);
    });
    const commits = plans.map((plan) => this.#commitOf(plan, current));
    const results = await Promise.all(
      commits.map((commit, i) => this.store.commit(plans[i]?.operation ?? null, commit)),
    );
    const after = new Map(
      (await this.store.scan(["k"], { limit: 10 })).map((entry) => [JSON.stringify(entry.key), entry.version]),
    );
    return results.map((result, i) => {
      if (!("versions" in result)) return result;
      // Whether each version is the current one. Engines agree on that but not on the versions.
      const isCurrent = commits[i]?.set?.map(({ key }, n) => after.get(JSON.stringify(key)) === result.versions[n]);
      return { ...result, versions: isCurrent ?? [] };
    });
  }

  #commitOf(plan: Plan, current: readonly (Version | null)[]): Commit {
    const now = this.store.now();
    const versionOf = (key: number, which: string) =>
      which === "absent" ? null : which === "current" ? itemAt(current, key) : this.#firstVersions.get(key) ?? null;
    return {
      ...(plan.check && {
        check: plan.check.map(({ key, version }) => ({ key: itemAt(KEYS, key), version: versionOf(key, version) })),
      }),
      ...(plan.set && {
        set: plan.set.map(({ key, value, ttlMs }) => ({
          key: itemAt(KEYS, key),
          value,
          ...(ttlMs !== undefined && { ttlMs }),
        })),
      }),
      ...(plan.delete && { delete: plan.delete.map((key) => itemAt(KEYS, key)) }),
      ...(plan.move && { changeBalances: plan.move }),
      ...(plan.ledger && {
        ledgerEntries: plan.ledger.map((line) => ({ ...line, operation: "charge", held: 0n })),
      }),
      ...(plan.add &&
        { addJobs: plan.add.map(({ delayMs, ...rest }) => ({ ...rest, dueAt: storeTimeOf(now + delayMs) })) }),
      ...(plan.settle && { completeJobs: plan.settle.flatMap((n) => this.#jobs[n] ?? []) }),
      ...(plan.postpone && {
        postponeJobs: plan.postpone.flatMap(({ job, delayMs, attempt }) =>
          this.#jobs[job] ? [{ job: this.#jobs[job], dueAt: storeTimeOf(now + delayMs), attempt }] : []
        ),
      }),
    };
  }

  #told(jobs: readonly Job[]): unknown {
    this.#jobs.unshift(...jobs);
    this.#jobs.length = Math.min(this.#jobs.length, 6);
    return jobs.map(({ id: _, ...rest }) => rest);
  }
}
