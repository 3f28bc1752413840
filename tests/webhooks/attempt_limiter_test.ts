import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import {
  type AttemptLimiter,
  type AttemptLimiterOptions,
  createAttemptLimiter,
} from "../../src/services/webhooks/attempt_limiter.ts";
import { AttemptGroups } from "../../src/services/webhooks/attempt_groups.ts";
import type { Permit, Postponement } from "../../src/services/webhooks/permit.ts";
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

/** The result of an attempt's request for a place so far. */
interface PlaceRequest {
  answer: Permit | Postponement | null;
}

function requestPlace(limiter: AttemptLimiter, url: string, account = "a", signal = never): PlaceRequest {
  const request: PlaceRequest = { answer: null };
  void limiter.acquire({ account, url: `https://${url}` }, signal).then((answer) => request.answer = answer, () => {});
  return request;
}

const many = (count: number, limiter: AttemptLimiter, url: string, account?: string) =>
  Array.from({ length: count }, () => requestPlace(limiter, url, account));
const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const countOf = (all: readonly PlaceRequest[], isGranted: boolean | null) =>
  all.filter(({ answer }) => (answer?.isGranted ?? null) === isGranted).length;

function release({ answer }: PlaceRequest, durationMs: number | null): void {
  assert(answer?.isGranted, "it has no place");
  answer.release(durationMs);
}

/** Makes a path responsive, so that its window has the maximum size. */
async function open(limiter: AttemptLimiter, url: string, account?: string): Promise<void> {
  for (let n = 0; n < 30; n++) {
    const request = requestPlace(limiter, url, account);
    await turn();
    release(request, 10);
  }
}

Deno.test("a path starts with two concurrent attempts and gets one more with each that ends quickly", async () => {
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

Deno.test("a path that hangs gets one attempt at a time until one ends quickly", async () => {
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

Deno.test("a path holds at most ten of a host's twenty places, an account fourteen, all accounts twenty", async () => {
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
  const elsewhere = requestPlace(limiter, "other.example/x");
  await turn();
  assertEquals(elsewhere.answer?.isGranted, true);
});

Deno.test("no account holds all places of all hosts", async () => {
  const { limiter } = limiterOf({ inAll: 30 });
  const all = Array.from({ length: 50 }, (_, n) => requestPlace(limiter, `h${n}.example/`));
  await turn();
  assertEquals(countOf(all, true), 24);
  const others = Array.from({ length: 50 }, (_, n) => requestPlace(limiter, `h${n}.example/`, "b"));
  await turn();
  assertEquals(countOf(others, true), 5);
});

Deno.test("paths without a response share a window, so that new paths do not occupy a host that hangs", async () => {
  const { limiter } = limiterOf();
  let request = 0;
  const all: PlaceRequest[] = [];
  const released = new Set<PlaceRequest>();
  const running = () => all.filter((each) => each.answer?.isGranted && !released.has(each));
  const counts: number[] = [];
  for (let round = 0; round < 4; round++) {
    for (let n = 0; n < 10; n++) all.push(requestPlace(limiter, `dead.example/${request++}`));
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

Deno.test("waiting attempts get free places in order", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  const all = many(4, limiter, "a.example/");
  for (let free = 1; free <= 4; free++) {
    await turn();
    assertEquals(all.map(({ answer }) => answer !== null), all.map((_, index) => index < free));
    release(itemAt(all, free - 1), 10);
  }
});

Deno.test("accounts, hosts of one account and paths of one host take turns if places are scarce", async () => {
  for (
    const [busy, calm, account] of [
      ["x.example/", "x.example/", "b"],
      ["x.example/", "y.example/", "a"],
      ["x.example/p", "x.example/q", "a"],
    ] as const
  ) {
    const { limiter } = limiterOf({ inAll: 1 });
    const first = requestPlace(limiter, busy);
    const waiting = many(8, limiter, busy);
    const other = requestPlace(limiter, calm, account);
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
  const all = Array.from({ length: 1_000 }, (_, n) => requestPlace(limiter, `h${n}.example/`));
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [1, 683]);
  const other = requestPlace(limiter, "h.example/", "b");
  await turn();
  assertEquals(other.answer, null, "it waits for its turn");
  release(itemAt(all, 0), 10);
  await turn();
  release(itemAt(all, 1), 10);
  await turn();
  assertEquals((other.answer as Permit | null)?.isGranted, true);
});

Deno.test("a hundred attempts wait for a path until three consecutive ones hung, then five", async () => {
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
  const all = Array.from({ length: 100 }, (_, n) => requestPlace(limiter, `dead.example/${n}`));
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [4, 96]);
  for (const request of all.slice(0, 3)) release(request, 10_000);
  await turn();
  assertEquals([countOf(all, true), countOf(all, null)], [6, 14], "and one of them has begun");
});

Deno.test("postponed attempts return successively at the rate of their path, within ten minutes", async () => {
  let seed = 0;
  const { limiter } = limiterOf({ random: () => (seed = (seed + 0.618) % 1) });
  for (let hung = 0; hung < 20; hung++) {
    const request = requestPlace(limiter, "dead.example/");
    await turn();
    release(request, 10_000);
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

Deno.test("attempts postponed by a host or an account limit do not return together either", async () => {
  for (const urlOf of [(n: number) => `dead.example/${n}`, (n: number) => `h${n}.example/`]) {
    const { limiter } = limiterOf({ inAll: 3 });
    for (let n = 0; n < 30; n++) {
      const request = requestPlace(limiter, urlOf(n));
      await turn();
      release(request, 10_000);
    }
    const all = Array.from({ length: 2_000 }, (_, n) => requestPlace(limiter, urlOf(100 + n)));
    await turn();
    const delays = all.flatMap(({ answer }) => answer?.isGranted === false ? [answer.delayMs] : []);
    assertGreater(delays.length, 1_300);
    assert(delays.filter((delay) => delay < 60_000).length < 40);
  }
});

Deno.test("an attempt that did not complete does not count for its path", async () => {
  const { limiter } = limiterOf();
  for (let n = 0; n < 5; n++) {
    const request = requestPlace(limiter, "a.example/");
    await turn();
    release(request, null);
  }
  const all = many(5, limiter, "a.example/");
  await turn();
  assertEquals(countOf(all, true), 2);
});

Deno.test("a place is freed once, however often it is released", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  const all = many(3, limiter, "a.example/");
  await turn();
  release(itemAt(all, 0), 10);
  release(itemAt(all, 0), 10);
  await turn();
  assertEquals(countOf(all, true), 2);
});

Deno.test("an aborted attempt leaves the queue", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  const first = requestPlace(limiter, "a.example/");
  const giveUp = new AbortController();
  const waiting = limiter.acquire({ account: "a", url: "https://a.example/" }, giveUp.signal);
  const behind = requestPlace(limiter, "a.example/");
  await turn();
  giveUp.abort(new Error("drained"));
  await assertRejects(() => waiting, Error, "drained");
  const late = limiter.acquire({ account: "a", url: "https://a.example/" }, giveUp.signal);
  await assertRejects(() => late, Error, "drained");
  release(first, 1);
  await turn();
  assertEquals(behind.answer?.isGranted, true);
});

Deno.test("after close(), waiting and later attempts are postponed by zero milliseconds", async () => {
  const { limiter } = limiterOf({ perHost: 1 });
  requestPlace(limiter, "a.example/");
  const waiting = many(3, limiter, "a.example/");
  limiter.close();
  const later = requestPlace(limiter, "b.example/");
  await turn();
  const atOnce = { isGranted: false, delayMs: 0 } as const;
  assertEquals([...waiting, later].map(({ answer }) => answer), Array(4).fill(atOnce));
});

Deno.test("paths above ten thousand are evicted, the least recently used first", async () => {
  const { limiter } = limiterOf();
  const hung = requestPlace(limiter, "dead.example/");
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

Deno.test("paths are evicted also while no attempt ends; those with attempts never are", () => {
  const groups = new AttemptGroups(20);
  const busy = groups.pathOf({ account: "a", url: "https://busy.example/" });
  busy.running = 1;
  for (let n = 0; n < 12_000; n++) groups.pathOf({ account: "a", url: `https://dead.example/${n}` });
  assertEquals([groups.size, groups.pathOf({ account: "a", url: "https://busy.example/" })], [10_000, busy]);
});
