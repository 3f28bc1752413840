import { assertEquals } from "@std/assert";
import {
  axisOf,
  failuresOf,
  rangeAxis,
  sideOf,
  trafficPoints,
} from "../../../src/console/client/pages/overview/traffic_points.ts";
import { TRAFFIC } from "./samples.ts";

const step = (from: number, to: number) => ({ ...TRAFFIC.total, from, to });

Deno.test("a step is drawn from its start to its end, and a time without a gateway is a gap", () => {
  const [first, second, third] = [step(100, 160), step(160.01, 220), step(400, 430)];
  const { times, steps } = trafficPoints([first, second, third]);
  assertEquals(times, [100, 160.01, 220, 310, 400, 430]);
  assertEquals(steps, [first, second, second, null, third, third]);
  assertEquals(trafficPoints([]), { times: [], steps: [] });
});

Deno.test("the axis is the chosen span, also after a start", () => {
  assertEquals(axisOf("hour", [step(9_900, 9_960), step(9_960, 10_000)]), [6_400, 10_000]);
  // A step that is under way can begin a little before the span.
  assertEquals(axisOf("hour", [step(6_350, 6_410), step(6_410, 10_000)]), [6_350, 10_000]);
});

Deno.test("the axis is the chosen time range, and the whole steps at its ends", () => {
  assertEquals(rangeAxis([1_000, 2_000], [step(1_200, 1_260)]), [1_000, 2_000]);
  assertEquals(rangeAxis([1_000, 2_000], [step(990, 1_050), step(1_980, 2_040)]), [990, 2_040]);
  assertEquals(rangeAxis([1_000, 2_000], []), [1_000, 2_000]);
});

Deno.test("failures of callers are told apart from those of vendors and the gateway", () => {
  const errors = { invalid_request: 3, rate_limited: 2, upstream_error: 4, internal_error: 1 };
  assertEquals(failuresOf({ errors }), { caller: 5, service: 5 });
  assertEquals(["model_not_found", "upstream_timeout"].map(sideOf), ["caller", "service"]);
});
