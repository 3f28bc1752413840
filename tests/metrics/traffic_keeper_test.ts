import { assertEquals } from "@std/assert";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { KEPT_TRAFFIC_MS, TrafficHistory } from "../../src/observers/metrics/traffic_history.ts";
import { TrafficKeeper } from "../../src/observers/metrics/traffic_keeper.ts";
import { type StoredTraffic, TRAFFIC } from "../../src/observers/metrics/traffic_records.ts";
import { addTraffic, NO_TRAFFIC, type TrafficTotals } from "../../src/observers/metrics/traffic_totals.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A process that counts requests, over a store. */
function processOn(store: Store, clock: ManualClock) {
  let totals = NO_TRAFFIC;
  const own = (): TrafficTotals => totals;
  const keeper = new TrafficKeeper({ store, clock, log: silentLog, totals: own });
  const history = new TrafficHistory(own, clock);
  keeper.start();
  return {
    keeper,
    history,
    add: (requests: number, errors: Record<string, number> = {}) => {
      totals = addTraffic(totals, { ...NO_TRAFFIC, requests, errors, costUnits: 7n, durations: [requests] });
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve));
}

async function advance(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5 * MINUTE_MS) {
    clock.advance(Math.min(left, 5 * MINUTE_MS));
    await turns();
  }
}

Deno.test("TrafficKeeper: a process that was killed loses at most the last five minutes", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const killed = processOn(store, clock);
  killed.add(3, { not_found: 1 });
  await advance(clock, 40 * MINUTE_MS);
  killed.add(2);
  await advance(clock, 5 * MINUTE_MS);
  killed.add(1);
  clock.advance(4 * MINUTE_MS);
  const next = processOn(store, clock);
  next.history.precede(await next.keeper.read());
  next.add(10, { not_found: 4 });
  for (const span of ["hour", "day", "week", "month"] as const) {
    const { total, steps } = next.history.read(span);
    assertEquals([total.traffic.requests, total.traffic.errors], [15, { not_found: 5 }], span);
    assertEquals(steps.reduce((sum, { traffic }) => sum + traffic.requests, 0), 15, span);
    assertEquals([total.traffic.costUnits, total.traffic.durations], [21n, [15]], span);
  }
});

Deno.test("TrafficKeeper: a process that stops loses nothing, and one without requests shows that it ran", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const idle = processOn(store, clock);
  await advance(clock, HOUR_MS);
  await advance(clock, 10 * MINUTE_MS);
  await idle.keeper.stop();
  const written = await idle.keeper.read();
  assertEquals(written.map(({ from, to, traffic }) => [(to - from) / MINUTE_MS, traffic.requests]), [[30, 0], [30, 0], [
    10,
    0,
  ]]);
  const stopped = processOn(store, clock);
  stopped.add(4);
  clock.advance(1_000);
  await stopped.keeper.stop();
  assertEquals((await idle.keeper.read()).map(({ traffic }) => traffic.requests), [0, 0, 0, 4]);
  // A gateway that is tried out for a moment leaves nothing.
  const short = processOn(store, clock);
  clock.advance(59_000);
  await short.keeper.stop();
  assertEquals((await idle.keeper.read()).length, 4);
});

Deno.test("TrafficKeeper: processes on one store keep apart, and records of more than a month are removed", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const [one, other] = [processOn(store, clock), processOn(store, clock)];
  one.add(1);
  other.add(2);
  await advance(clock, 5 * MINUTE_MS);
  assertEquals((await one.keeper.read()).map(({ traffic }) => traffic.requests).toSorted(), [1, 2]);
  clock.advance(KEPT_TRAFFIC_MS + HOUR_MS);
  await turns();
  const left = await store.scan<StoredTraffic>(TRAFFIC, { limit: 10 });
  assertEquals(left.filter(({ value }) => value.traffic.requests > 0), []);
});

Deno.test("TrafficHistory: earlier traffic has steps of its span, and none where no gateway ran", () => {
  const clock = new ManualClock();
  const start = clock.now();
  const halfHour = (index: number) => ({
    from: start + index * HOUR_MS / 2,
    to: start + (index + 1) * HOUR_MS / 2,
    traffic: { ...NO_TRAFFIC, requests: 10 },
  });
  // Twelve hours with requests, twelve without a gateway, and an hour again.
  const earlier = [...Array.from({ length: 24 }, (_, index) => halfHour(index)), halfHour(48), halfHour(49)];
  clock.advance(25 * HOUR_MS);
  const history = new TrafficHistory(() => NO_TRAFFIC, clock);
  history.precede(earlier.toReversed());
  const week = history.read("week").steps.map(({ from, to, traffic }) => [(to - from) / HOUR_MS, traffic.requests]);
  assertEquals(week, [[3, 60], [3, 60], [3, 60], [3, 60], [1, 20], [0, 0], [0, 0]]);
  assertEquals(history.read("month").total.traffic.requests, 260);
  assertEquals(history.read("day").total.traffic.requests, 240);
  assertEquals(history.read("hour").total.traffic.requests, 20);
});

Deno.test("TrafficHistory: the time between two processes has no step, and one without requests has one", () => {
  const clock = new ManualClock();
  const start = clock.now();
  const idle = { from: start, to: start + HOUR_MS / 2, traffic: NO_TRAFFIC };
  clock.advance(HOUR_MS);
  const history = new TrafficHistory(() => NO_TRAFFIC, clock);
  history.precede([idle]);
  history.start();
  clock.advance(2 * MINUTE_MS);
  const shape = (span: "hour" | "day") =>
    history.read(span).steps.map(({ from, to }) => [(from - start) / MINUTE_MS, (to - start) / MINUTE_MS]);
  assertEquals(shape("hour"), [[0, 30], [60, 61], [61, 62], [62, 62]]);
  assertEquals(shape("day"), [[0, 30], [60, 62]]);
  history.stop();
});
