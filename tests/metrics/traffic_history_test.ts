import { assertEquals } from "@std/assert";
import { TrafficHistory } from "../../src/observers/metrics/traffic_history.ts";
import { quantileOf, type TrafficTotals } from "../../src/observers/metrics/traffic_totals.ts";
import { ManualClock } from "../support/manual_clock.ts";

const NONE: TrafficTotals = {
  requests: 0,
  errors: {},
  inputTokens: 0,
  outputTokens: 0,
  costUnits: 0n,
  durations: [0, 0],
  firstBytes: [0, 0],
};
const MINUTE_MS = 60_000;

function historyWith(clock: ManualClock) {
  let totals = NONE;
  const history = new TrafficHistory(() => totals, clock);
  const add = (requests: number, errors: Record<string, number> = {}) => {
    totals = { ...totals, requests: totals.requests + requests, errors: { ...totals.errors, ...errors } };
  };
  return { history, add };
}

Deno.test("TrafficHistory: a step has the requests of its minute, and the last one those until now", () => {
  const clock = new ManualClock();
  const { history, add } = historyWith(clock);
  history.start();
  add(3, { not_found: 1 });
  clock.advance(MINUTE_MS);
  add(5, { not_found: 3 });
  clock.advance(10_000);
  const { steps, total } = history.read("hour");
  assertEquals(steps.map(({ from, to, traffic }) => [to - from, traffic.requests, traffic.errors]), [
    [MINUTE_MS, 3, { not_found: 1 }],
    [10_000, 5, { not_found: 2 }],
  ]);
  assertEquals([total.to - total.from, total.traffic.requests], [70_000, 8]);
  history.stop();
  assertEquals(clock.waiting, 0);
});

Deno.test("TrafficHistory: a time range has the whole steps that overlap it, as short as they are kept", () => {
  const clock = new ManualClock();
  const start = clock.now();
  const { history, add } = historyWith(clock);
  history.start();
  for (let minute = 0; minute < 3 * 60; minute++) {
    add(1);
    clock.advance(MINUTE_MS);
  }
  const now = clock.now();
  const shapeOf = ({ steps, total }: ReturnType<TrafficHistory["between"]>) => [
    steps.length,
    (steps[0]?.to ?? 0) - (steps[0]?.from ?? 0),
    total.from - start,
    total.to - start,
    total.traffic.requests,
  ];
  const minutesOf = (from: number, to: number) => ({ from: start + from * MINUTE_MS, to: start + to * MINUTE_MS });
  const between = (from: number, to: number) => shapeOf(history.between(minutesOf(from, to)));
  assertEquals(between(150, 152), [2, MINUTE_MS, 150 * MINUTE_MS, 152 * MINUTE_MS, 2]);
  assertEquals(between(150.5, 151.5), [2, MINUTE_MS, 150 * MINUTE_MS, 152 * MINUTE_MS, 2]);
  assertEquals(between(40, 70), [2, 30 * MINUTE_MS, 30 * MINUTE_MS, 90 * MINUTE_MS, 60]);
  assertEquals(between(-90, -60), [0, 0, -90 * MINUTE_MS, -60 * MINUTE_MS, 0]);
  assertEquals(shapeOf(history.between({ from: start, to: now + MINUTE_MS })).at(-1), 180);
  history.stop();
});

Deno.test("TrafficHistory: each span has a limited number of steps, and the last month is kept", () => {
  const clock = new ManualClock();
  const { history, add } = historyWith(clock);
  history.start();
  for (let minute = 0; minute < 40 * 24 * 60; minute++) {
    add(1);
    clock.advance(MINUTE_MS);
  }
  const spans = (["hour", "day", "week", "month"] as const).map((span) => history.read(span));
  assertEquals(spans.map(({ steps }) => steps.length), [60, 48, 56, 62]);
  const days = spans.map(({ total: { from, to } }) => Math.round((to - from) / MINUTE_MS / 60));
  assertEquals(days.map((hours, index) => hours >= [0, 23, 165, 732][index]! && hours <= [1, 24, 168, 744][index]!), [
    true,
    true,
    true,
    true,
  ]);
  history.stop();
});

Deno.test("TrafficHistory: a clock that is set back starts a new history", () => {
  const clock = new ManualClock();
  const { history, add } = historyWith(clock);
  clock.set(clock.now() - 60 * MINUTE_MS);
  add(1);
  history.sample();
  assertEquals(history.read("hour").steps.map(({ traffic }) => traffic.requests), [0]);
});

Deno.test("quantileOf() spreads the values of a range evenly, and ends at the last bound", () => {
  assertEquals(quantileOf(0.5, [0, 0, 0], [1, 2]), null);
  assertEquals(quantileOf(0.5, [10, 0, 0], [1, 2]), 0.5);
  assertEquals(quantileOf(0.5, [0, 10, 0], [1, 2]), 1.5);
  assertEquals(quantileOf(0.95, [90, 5, 5], [1, 2]), 2);
  assertEquals(quantileOf(0.99, [1, 0, 99], [1, 2]), 2);
});
