import { assert, assertEquals } from "@std/assert";
import type { Commit, Job, JobStore } from "../../../src/platform/store/store.ts";
import { atLeast, itemAt } from "../../support/items.ts";
import { until } from "../../support/manual_clock.ts";
import type { Law } from "./law.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const LEASE_MS = 30_000;
const HOUR_MS = 3_600_000;

/** Jobs are never lost, and never completed by two workers. */
export function jobLaws(law: Law): void {
  law("a job is claimed when it is due, not before", async ({ store }) => {
    await add(store, "poll", "t1", store.now() + 100);
    assertEquals(await store.claim(["poll"], 10, LEASE_MS), []);
  });

  law("a claim returns the job with its epoch increased and the end of its lease", async ({ store, clock }) => {
    await add(store, "poll", "t1", store.now() + 100);
    clock.advance(100);
    const job = itemAt(await store.claim(["poll"], 10, LEASE_MS), 0);
    const { id, ...rest } = job;
    assert(id.length > 0);
    assertEquals(rest, { kind: "poll", ref: "t1", epoch: 1, attempt: 0, dueAt: storeTimeOf(store.now() + LEASE_MS) });
  });

  law(
    "claim() returns due jobs of the kinds, oldest first, at most the limit",
    async ({ store, clock }) => {
      const start = store.now();
      const refs = [5, 1, 4, 2, 3];
      for (const n of refs) await add(store, n % 2 === 0 ? "even" : "odd", `t${n}`, start + n);
      await add(store, "other", "x", start);
      clock.advance(10);
      assertEquals(refsOf(await store.claim(["odd", "even"], 3, LEASE_MS)), ["t1", "t2", "t3"]);
      assertEquals(refsOf(await store.claim(["odd", "even", "odd"], 9, LEASE_MS)), ["t4", "t5"]);
      assertEquals(await store.claim([], 9, LEASE_MS), []);
      assertEquals(await store.claim(["other"], 0, LEASE_MS), []);
    },
  );

  law("claim() returns no job twice within its lease, under many claimers", async ({ store }) => {
    const refs = Array.from({ length: 90 }, (_, n) => `t${String(n).padStart(2, "0")}`);
    await store.commit(null, { addJobs: refs.map((ref) => ({ kind: "k", ref, dueAt: store.now() })) });
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim(["k"], 7, LEASE_MS)));
    assertEquals(claims.flatMap(refsOf).toSorted(), refs);
    assertEquals(await store.claim(["k"], 100, LEASE_MS), []);
  });

  law(
    "jobDueTimes() returns the due times of open jobs, in order: now for a claimed one, null for none",
    async ({ store, clock }) => {
      const start = store.now();
      await add(store, "k", "later", start + 5_000);
      await add(store, "k", "claimed", start);
      await add(store, "other", "t", start);
      const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
      clock.advance(1_000);
      const refs = ["claimed", "t", "later", "\ud800", "claimed"];
      assertEquals<(number | null)[]>(await store.jobDueTimes("k", refs), [
        start + 1_000,
        null,
        start + 5_000,
        null,
        start + 1_000,
      ]);
      clock.advance(LEASE_MS);
      assertEquals<(number | null)[]>(
        await store.jobDueTimes("k", ["claimed"]),
        [start + LEASE_MS],
        "the lease has ended",
      );
      await store.commit(null, { postponeJobs: [{ job, dueAt: storeTimeOf(start + 90_000), attempt: 0 }] });
      assertEquals<(number | null)[]>(await store.jobDueTimes("k", ["claimed", "later"]), [
        start + 90_000,
        start + 5_000,
      ]);
      clock.set(clock.now() - HOUR_MS);
      assertEquals<(number | null)[]>(
        await store.jobDueTimes("k", ["claimed"]),
        [start + 90_000 - HOUR_MS],
        "moved along with the clock",
      );
      assertEquals<(number | null)[]>(await store.jobDueTimes("k", []), []);
    },
  );

  law("a lease that ended makes the job due again, one attempt later", async ({ store, clock }) => {
    await add(store, "k", "t", store.now());
    const [first] = await store.claim(["k"], 1, LEASE_MS);
    clock.advance(LEASE_MS - 1);
    assertEquals(await store.claim(["k"], 1, LEASE_MS), []);
    clock.advance(1);
    const [second] = await store.claim(["k"], 1, LEASE_MS);
    assertEquals<unknown>(second, { ...first, epoch: 2, attempt: 1, dueAt: store.now() + LEASE_MS });
  });

  law("a fenced completion changes nothing", async ({ store, clock }) => {
    await add(store, "k", "t", store.now());
    const late = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    clock.advance(LEASE_MS);
    const current = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    const result = await store.commit("late", { completeJobs: [late], set: [{ key: ["done"], value: "late" }] });
    assertEquals(result, { ok: false, why: "fenced", at: 0 });
    assertEquals(await store.get([["done"]]), [null]);
    assert((await store.commit(null, { completeJobs: [current], set: [{ key: ["done"], value: "current" }] })).ok);
    assertEquals((await store.get([["done"]]))[0]?.value, "current");
  });

  law("a late worker may complete its job if no other worker claimed it", async ({ store, clock }) => {
    await add(store, "k", "t", store.now());
    const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    clock.advance(2 * LEASE_MS);
    assert((await store.commit(null, { completeJobs: [job] })).ok);
    assertEquals(await store.claim(["k"], 1, LEASE_MS), []);
  });

  law("a job is completed once", async ({ store }) => {
    await add(store, "k", "t", store.now());
    const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    const results = await Promise.all([
      store.commit(null, { completeJobs: [job] }),
      store.commit(null, { completeJobs: [job] }),
    ]);
    assertEquals(results, [{ ok: true, replayed: false, versions: [] }, { ok: false, why: "fenced", at: 0 }]);
    await add(store, "k", "u", store.now());
    const other = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    assertEquals(await store.commit(null, { completeJobs: [other, other] }), { ok: false, why: "fenced", at: 1 });
  });

  law("a postponed job is due at its new time with the attempt that was given", async ({ store, clock }) => {
    await add(store, "k", "t", store.now());
    const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    assert(
      (await store.commit(null, { postponeJobs: [{ job, dueAt: storeTimeOf(store.now() + 500), attempt: 7 }] })).ok,
    );
    clock.advance(499);
    assertEquals(await store.claim(["k"], 1, LEASE_MS), []);
    clock.advance(1);
    const [again] = await store.claim(["k"], 1, LEASE_MS);
    assertEquals(again, { ...job, epoch: 2, attempt: 7, dueAt: storeTimeOf(store.now() + LEASE_MS) });
  });

  law("a worker that postponed its job does not hold it any more", async ({ store }) => {
    await add(store, "k", "t", store.now());
    const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    await store.commit(null, { postponeJobs: [{ job, dueAt: storeTimeOf(store.now() + 500), attempt: 1 }] });
    assertEquals(await store.commit(null, { completeJobs: [job] }), { ok: false, why: "fenced", at: 0 });
    const again = { job, dueAt: store.now(), attempt: 0 };
    assertEquals(await store.commit(null, { postponeJobs: [again] }), { ok: false, why: "fenced", at: 0 });
    assertEquals(await store.renew([job], LEASE_MS), []);
  });

  law("renew() extends leases and omits jobs that were lost", async ({ store, clock }) => {
    for (const ref of ["a", "b", "c"]) await add(store, "k", ref, store.now());
    const [a, b, c] = atLeast(await store.claim(["k"], 3, LEASE_MS), 3);
    await store.commit(null, { completeJobs: [b] });
    clock.advance(LEASE_MS - 1);
    const renewed = await store.renew([a, b, c], LEASE_MS);
    assertEquals(renewed, [a, c].map((job) => ({ ...job, dueAt: storeTimeOf(store.now() + LEASE_MS) })));
    clock.advance(LEASE_MS - 1);
    assertEquals(await store.claim(["k"], 9, LEASE_MS), []);
    clock.advance(1);
    assertEquals(refsOf(await store.claim(["k"], 9, LEASE_MS)), ["a", "c"]);
    assertEquals(await store.renew([a, c], LEASE_MS), []);
    assertEquals(await store.renew([], LEASE_MS), []);
  });

  law("a renewed job can be completed with its older copy", async ({ store }) => {
    await add(store, "k", "t", store.now());
    const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    await store.renew([job], LEASE_MS);
    assert((await store.commit(null, { completeJobs: [job] })).ok);
  });

  law("a job is unique among the open ones, waiting or claimed", async ({ store }) => {
    await add(store, "k", "t", store.now());
    const jobs = [{ kind: "other", ref: "t", dueAt: storeTimeOf(0) }, { kind: "k", ref: "t", dueAt: storeTimeOf(0) }];
    const again: Commit = { addJobs: jobs };
    assertEquals(await store.commit(null, again), { ok: false, why: "duplicate", at: 1 });
    const twice = [{ kind: "twin", ref: "t", dueAt: storeTimeOf(0) }, {
      kind: "twin",
      ref: "t",
      dueAt: storeTimeOf(0),
    }];
    assertEquals(await store.commit(null, { addJobs: twice }), { ok: false, why: "duplicate", at: 1 });
    const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    assertEquals(await store.commit(null, { addJobs: jobs.slice(1) }), { ok: false, why: "duplicate", at: 0 });
    await store.commit(null, { completeJobs: [job] });
    assert((await store.commit(null, again)).ok);
  });

  law(
    "a completed job can be added again, also in the commit that completes it, and is a new job",
    async ({ store }) => {
      await add(store, "k", "t", store.now());
      const first = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
      const next = [{ kind: "k", ref: "t", dueAt: store.now() }];
      assert((await store.commit(null, { completeJobs: [first], addJobs: next })).ok);
      assertEquals(await store.commit(null, { completeJobs: [first] }), { ok: false, why: "fenced", at: 0 });
      const second = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
      assertEquals([second.epoch, second.attempt], [1, 0]);
      assert(second.id !== first.id);
      assertEquals(await store.commit(null, { completeJobs: [first] }), { ok: false, why: "fenced", at: 0 });
      assertEquals(await store.renew([first], LEASE_MS), []);
    },
  );

  law("of parallel commits that add one job, one is made", async ({ store }) => {
    const commit: Commit = { addJobs: [{ kind: "k", ref: "t", dueAt: storeTimeOf(0) }] };
    const results = await Promise.all(Array.from({ length: 20 }, () => store.commit(null, commit)));
    assertEquals(results.filter(({ ok }) => ok).length, 1);
    assertEquals((await store.claim(["k"], 9, LEASE_MS)).length, 1);
  });

  law("kinds and refs of any text are distinguished", async ({ store }) => {
    const names = [["a", "b\0c"], ["a\0b", "c"], ["a", "b"], ["a b", ""], ["", "a b"], ["ž", "🐎"]] as const;
    await store.commit(null, { addJobs: names.map(([kind, ref]) => ({ kind, ref, dueAt: storeTimeOf(0) })) });
    for (const kind of new Set(names.map(([kind]) => kind))) {
      const expected = names.filter(([other]) => other === kind).map((name): string[] => [...name]);
      assertEquals((await store.claim([kind], 9, LEASE_MS)).map((job) => [job.kind, job.ref]), expected);
    }
  });

  law("jobs survive a restart", async ({ store, clock, restarted }) => {
    await add(store, "k", "later", store.now() + 1_000);
    const later = await restarted();
    assertEquals(await later.claim(["k"], 9, LEASE_MS), []);
    clock.advance(1_000);
    assertEquals(refsOf(await later.claim(["k"], 9, LEASE_MS)), ["later"]);
  });

  law("listeners are woken for a job that is due at once, and not after they were removed", async ({ store }) => {
    const woken: string[] = [];
    const stop = store.onWake((kind) => woken.push(kind));
    await add(store, "k", "t", store.now());
    await until(() => woken.includes("k"));
    stop();
    woken.length = 0;
    await add(store, "k", "u", store.now());
    assertEquals(woken, []);
  });

  law("listeners are woken when a job becomes due, also a postponed one", async ({ store, clock }) => {
    const woken: number[] = [];
    store.onWake(() => woken.push(clock.now()));
    const start = store.now();
    await add(store, "k", "t", start + 700);
    clock.advance(699);
    assertEquals(woken, []);
    clock.advance(1);
    assertEquals(woken, [start + 700]);
    const job = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    await store.commit(null, { postponeJobs: [{ job, dueAt: storeTimeOf(start + 900), attempt: 1 }] });
    clock.advance(200);
    assertEquals(woken.at(-1), start + 900);
  });

  law("a listener that throws prevents neither other listeners nor the commit", async ({ store }) => {
    let woken = 0;
    store.onWake(() => {
      throw new Error("listener");
    });
    store.onWake(() => woken++);
    await add(store, "k", "t", store.now());
    await until(() => woken > 0);
  });

  law(
    "a postponed job waits no longer when the clock is set back meanwhile",
    async ({ store, clock }) => {
      const start = store.now();
      await add(store, "k", "first", start);
      await add(store, "k", "second", start + 10_000);
      const first = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
      await store.commit(null, { postponeJobs: [{ job: first, dueAt: storeTimeOf(start + 10_000), attempt: 0 }] });
      clock.set(start - HOUR_MS);
      assertEquals(await store.claim(["k"], 9, LEASE_MS), []);
      clock.advance(9_999);
      assertEquals(await store.claim(["k"], 9, LEASE_MS), []);
      clock.advance(1);
      assertEquals(refsOf(await store.claim(["k"], 9, LEASE_MS)).toSorted(), ["first", "second"]);
    },
  );

  law(
    "a clock that is set back wakes listeners when jobs are due and not before",
    async ({ store, clock }) => {
      const woken: string[] = [];
      store.onWake((kind) => woken.push(kind));
      await add(store, "k", "t", store.now() + 10_000);
      clock.set(store.now() - HOUR_MS);
      await store.claim(["other"], 1, LEASE_MS);
      clock.advance(9_999);
      assertEquals(woken, []);
      clock.advance(1);
      await until(() => woken.length > 0);
    },
  );

  law("a lease keeps its length when the clock is set back meanwhile", async ({ store, clock }) => {
    await add(store, "k", "t", store.now());
    const first = itemAt(await store.claim(["k"], 1, LEASE_MS), 0);
    clock.set(store.now() - HOUR_MS);
    clock.advance(LEASE_MS / 2);
    const renewed = itemAt(await store.renew([first], LEASE_MS), 0);
    assertEquals(renewed.dueAt, store.now() + LEASE_MS);
    clock.advance(LEASE_MS - 1);
    assertEquals(await store.claim(["k"], 1, LEASE_MS), []);
    clock.advance(1);
    assertEquals(refsOf(await store.claim(["k"], 1, LEASE_MS)), ["t"]);
  });

  law("a clock that is set back between two opens delays no job", async ({ store, clock, restarted }) => {
    await add(store, "k", "t", store.now() + 10_000);
    clock.set(store.now() - HOUR_MS);
    const again = await restarted();
    clock.advance(10_000);
    assertEquals(refsOf(await again.claim(["k"], 1, LEASE_MS)), ["t"]);
  });

  law("a wake-up without a job is harmless, and a lost wake-up loses no job", async ({ store, clock }) => {
    await add(store, "k", "t", store.now() + 5_000);
    clock.stall(5_000); // no timer fires
    assertEquals(refsOf(await store.claim(["k"], 9, LEASE_MS)), ["t"]);
    assertEquals(await store.claim(["k"], 9, LEASE_MS), []);
  });
}

async function add(store: JobStore, kind: string, ref: string, dueAt: number): Promise<void> {
  const result = await store.commit(null, { addJobs: [{ kind, ref, dueAt: storeTimeOf(dueAt) }] });
  assertEquals(result, { ok: true, replayed: false, versions: [] });
}

function refsOf(jobs: readonly Job[]): string[] {
  return jobs.map(({ ref }) => ref);
}
