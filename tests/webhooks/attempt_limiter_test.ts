import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import {
  type AttemptLimiter,
  type AttemptLimiterOptions,
  createAttemptLimiter,
} from "../../src/webhooks/attempt_limiter.ts";
import { AttemptGroups } from "../../src/webhooks/attempt_groups.ts";
import type { Permit, Postponement } from "../../src/webhooks/permit.ts";
import { itemAt } from "../support/items.ts";

const never = new AbortController().signal;

function limiterOf(options: Partial<AttemptLimiterOptions> = {}) {
  const clock = { elapsedMs: 1_000_000 };
  const limiter = createAttemptLimiter({
    monotonicMs: () => clock.elapsedMs,
    random: () => 0,
    hungMs: 5_000,
    ...options,
  });
  return { clock, limiter };
}

/** What an attempt that asked for a place was answered so far. */
interface Asked {
  answer: Permit | Postponement | null;
}

function ask(limiter: AttemptLimiter, url: string, account = "a", signal = never): Asked {
  const asked: Asked = { answer: null };
  void limiter.acquire({ account, url: `https://${url}` }, signal).then((answer) => asked.answer = answer, () => {});
  return asked;
}

const many = (count: number, limiter: AttemptLimiter, url: string, account?: string) =>
  Array.from({ length: count }, () => ask(limiter, url, account));
const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const countOf = (all: readonly Asked[], isGranted: boolean | null) =>
  all.filter(({ answer }) => (answer?.isGranted ?? null) === isGranted).length;

function release({ answer }: Asked, durationMs: number | null): void {
  assert(answer?.isGranted, "it has no place");
  answer.release(durationMs);
}

/** Makes a path responsive, so that its window is as large as can be. */
async function open(limiter: AttemptLimiter, url: string, account?: string): Promise<void> {
  for (let n = 0; n < 30; n++) {
    const asked = ask(limiter, url, account);
    await turn();
    release(asked, 10);
  }
}

Deno.test("a path starts with two attempts at once, and gets one more with each that ends soon", async () => {
  const { limiter } = limiterOf();
  const all = many(12, limiter, "a.example/hook");
  await turn();
  assertEquals([countOf(all, true), countOf(all, null), countOf(all, false)], [2, 10, 0]);
  release(itemAt(all, 0), 10);
  await turn();
  assertEquals(countOf(all, true), 4, "one for the place that fell free, one for the larger window");
  release(itemAt(all, 1), 4_999);
  await turn();
  assertEquals(countOf(all, true), 6);
});

Deno.test("a path that hangs is called by one attempt at a time, until one ends soon", async () => {
  const { limiter } = limiterOf();
  const all = many(8, limiter, "dead.example/hook");
  await turn();
  release(itemAt(all, 0), 10_000);
  release(itemAt(all, 1), 10_000);
  for (let n = 2; n < 5; n++) {
    await turn();
    assertEquals(countOf(all, true), n + 1, "the next, alone");
    release(itemAt(all, n), n === 4 ? 50 : 10_000);
  }
  await turn();
  assertEquals(countOf(all, true), 7, "it answers again");
});

Deno.test("a path takes ten of a host's twenty places, an account fourteen, all accounts together twenty", async () => {
  const { limiter } = limiterOf();
  for (const path of ["x", "y"]) await open(limiter, `h.example/${path}`);
  for (const account of ["b", "c", "d"]) await open(limiter, "h.example/x", account);
  const first = many(30, limiter, "h.example/x");
  await turn();
  assertEquals(countOf(first, true), 10);
  const second = many(30, limiter, "h.example/y");
  await turn();
  assertEquals(countOf(second, true), 3);
  const others = ["b", "c", "d"].map((account) => many(30, limiter, "h.example/x", account));
  await turn();
  const taken = others.map((all) => countOf(all, true));
  assertEquals(taken.every((count) => count >= 1), true, taken.join(" "));
  assert(13 + taken.reduce((sum, count) => sum + count) <= 20, taken.join(" "));
  const elsewhere = ask(limiter, "other.example/x");
  await turn();
  assertEquals(elsewhere.answer?.isGranted, true);
});

Deno.test("no account takes all places of all hosts", async () => {
  const { limiter } = limiterOf({ inAll: 30 });
  const all = Array.from({ length: 50 }, (_, n) => ask(limiter, `h${n}.example/`));
  await turn();
  assertEquals(countOf(all, true), 24);
  const others = Array.from({ length: 50 }, (_, n) => ask(limiter, `h${n}.example/`, "b"));
  await turn();
  assertEquals(countOf(others, true), 5);
});

Deno.test("paths without an answer so far share a window, so that new paths do not occupy a host that hangs", async () => {
  const { limiter } = limiterOf();
  let asked = 0;
  const all: Asked[] = [];
  const released = new Set<Asked>();
  const running = () => all.filter((each) => each.answer?.isGranted && !released.has(each));
  const counts: number[] = [];
  for (let round = 0; round < 4; round++) {
    for (let n = 0; n < 10; n++) all.push(ask(limiter, `dead.example/${asked++}`));
    await turn();
    counts.push(running().length);
    for (const each of running()) {
      released.add(each);
      release(each, 10_000);
    }
    await turn();
  }
  assertEquals(counts, [4, 3, 3, 3]);
});

Deno.test("whoever waits gets the place that falls free, in order", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  const all = many(4, limiter, "a.example/");
  for (let free = 1; free <= 4; free++) {
    await turn();
    assertEquals(all.map(({ answer }) => answer !== null), all.map((_, index) => index < free));
    release(itemAt(all, free - 1), 10);
  }
});

Deno.test("accounts take turns when places are short, and so do hosts of one account, and paths of one host", async () => {
  for (
    const [busy, calm, account] of [
      ["x.example/", "x.example/", "b"],
      ["x.example/", "y.example/", "a"],
      ["x.example/p", "x.example/q", "a"],
    ] as const
  ) {
    const { limiter } = limiterOf({ inAll: 1 });
    const first = ask(limiter, busy);
    const waiting = many(8, limiter, busy);
    const other = ask(limiter, calm, account);
    await turn();
    release(first, 10);
    await turn();
    assertEquals([waiting[0]?.answer?.isGranted, other.answer], [true, null], "who came first");
    release(itemAt(waiting, 0), 10);
    await turn();
    assertEquals([other.answer?.isGranted, countOf(waiting, true)], [true, 1], `${calm} after one of ${busy}`);
    release(other, 10);
    await turn();
    assertEquals(countOf(waiting, true), 2);
  }
});

Deno.test("one account's queues leave room for another's", async () => {
  const { limiter } = limiterOf({ inAll: 1 });
  const all = Array.from({ length: 1_000 }, (_, n) => ask(limiter, `h${n}.example/`));
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [1, 683]);
  const other = ask(limiter, "h.example/", "b");
  await turn();
  assertEquals(other.answer, null, "it waits for its turn");
  release(itemAt(all, 0), 10);
  await turn();
  release(itemAt(all, 1), 10);
  await turn();
  assertEquals((other.answer as Permit | null)?.isGranted, true);
});

Deno.test("a hundred attempts wait for a path until three in a row hung, then five", async () => {
  const { limiter } = limiterOf();
  const all = many(103, limiter, "a.example/hook");
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [2, 101]);
  for (let hung = 0; hung < 2; hung++) release(itemAt(all, hung), 10_000);
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [3, 100]);
  release(itemAt(all, 2), 10_000);
  await turn();
  assertEquals([countOf(all, true), countOf(all, null), countOf(all, false)], [4, 4, 95]);
  const more = many(2, limiter, "a.example/hook");
  await turn();
  assertEquals([countOf(more, null), countOf(more, false)], [1, 1]);
});

Deno.test("after three attempts at new paths hung, fifteen wait at new paths of that host", async () => {
  const { limiter } = limiterOf();
  const all = Array.from({ length: 100 }, (_, n) => ask(limiter, `dead.example/${n}`));
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [4, 96]);
  for (const asked of all.slice(0, 3)) release(asked, 10_000);
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [6, 14], "and one of them has begun");
});

Deno.test("postponed attempts return one after another at the rate of their path, within ten minutes", async () => {
  let seed = 0;
  const { limiter } = limiterOf({ random: () => (seed = (seed + 0.618) % 1) });
  for (let hung = 0; hung < 20; hung++) {
    const asked = ask(limiter, "dead.example/");
    await turn();
    release(asked, 10_000);
  }
  const all = many(2_000, limiter, "dead.example/");
  await turn();
  const delays = all.flatMap(({ answer }) => answer?.isGranted === false ? [answer.delayMs] : []);
  assertGreater(delays.length, 1_990);
  assert(delays.every((delay) => delay >= 1_000 && delay <= 600_000));
  assertEquals(delays.slice(0, 20), delays.slice(0, 20).toSorted((a, b) => a - b));
  const perMinute = Array.from(
    { length: 11 },
    (_, minute) => delays.filter((delay) => Math.floor(delay / 60_000) === minute),
  );
  assert(perMinute.every((of) => of.length < 600), perMinute.map((of) => of.length).join(" "));
});

Deno.test("attempts that are postponed for the sake of a host or an account do not return all at once either", async () => {
  for (const urlOf of [(n: number) => `dead.example/${n}`, (n: number) => `h${n}.example/`]) {
    const { limiter } = limiterOf({ inAll: 3 });
    for (let n = 0; n < 30; n++) {
      const asked = ask(limiter, urlOf(n));
      await turn();
      release(asked, 10_000);
    }
    const all = Array.from({ length: 2_000 }, (_, n) => ask(limiter, urlOf(100 + n)));
    await turn();
    const delays = all.flatMap(({ answer }) => answer?.isGranted === false ? [answer.delayMs] : []);
    assertGreater(delays.length, 1_300);
    assert(delays.filter((delay) => delay < 60_000).length < 40);
  }
});

Deno.test("an attempt that did not come to an end says nothing of its path", async () => {
  const { limiter } = limiterOf();
  for (let n = 0; n < 5; n++) {
    const asked = ask(limiter, "a.example/");
    await turn();
    release(asked, null);
  }
  const all = many(5, limiter, "a.example/");
  await turn();
  assertEquals(countOf(all, true), 2);
});

Deno.test("a place is given back once, however often it is released", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  const all = many(3, limiter, "a.example/");
  await turn();
  release(itemAt(all, 0), 10);
  release(itemAt(all, 0), 10);
  await turn();
  assertEquals(countOf(all, true), 2);
});

Deno.test("who is called off while waiting leaves the queue", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  const first = ask(limiter, "a.example/");
  const giveUp = new AbortController();
  const waiting = limiter.acquire({ account: "a", url: "https://a.example/" }, giveUp.signal);
  const behind = ask(limiter, "a.example/");
  await turn();
  giveUp.abort(new Error("drained"));
  await assertRejects(() => waiting, Error, "drained");
  const late = limiter.acquire({ account: "a", url: "https://a.example/" }, giveUp.signal);
  await assertRejects(() => late, Error, "drained");
  release(first, 1);
  await turn();
  assertEquals(behind.answer?.isGranted, true);
});

Deno.test("at the end everybody who waits, and who comes later, is postponed by nothing", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  ask(limiter, "a.example/");
  const waiting = many(3, limiter, "a.example/");
  limiter.close();
  const later = ask(limiter, "b.example/");
  await turn();
  const atOnce = { isGranted: false, delayMs: 0 } as const;
  assertEquals([...waiting, later].map(({ answer }) => answer), Array(4).fill(atOnce));
});

Deno.test("paths beyond ten thousand are forgotten, the one asked for longest ago first", async () => {
  const { limiter } = limiterOf();
  const hung = ask(limiter, "dead.example/");
  await turn();
  release(hung, 10_000);
  for (let n = 0; n < 10_001; n++) {
    const answer = await limiter.acquire({ account: "a", url: `https://h${n}.example/` }, never);
    assert(answer.isGranted);
    answer.release(10);
  }
  const all = many(5, limiter, "dead.example/");
  await turn();
  assertEquals(countOf(all, true), 2, "as if it were the first time");
});

Deno.test("paths are forgotten also while no attempt ends, those with attempts never", () => {
  const groups = new AttemptGroups(20);
  const busy = groups.pathOf({ account: "a", url: "https://busy.example/" });
  busy.running = 1;
  for (let n = 0; n < 12_000; n++) groups.pathOf({ account: "a", url: `https://dead.example/${n}` });
  assertEquals([groups.size, groups.pathOf({ account: "a", url: "https://busy.example/" })], [10_000, busy]);
});
