import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { WriteHealth } from "../../src/platform/store/write_health.ts";
import { ManualClock } from "../support/manual_clock.ts";

function stage(minFreeBytes = 0) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const state = { isBroken: false, probes: 0, freeBytes: 100, isInPlace: true };
  const health: WriteHealth = new WriteHealth({
    clock,
    log: jsonLog("debug", (line) => void lines.push(JSON.parse(line).event)),
    probe: () => {
      state.probes++;
      return state.isBroken ? Promise.reject(new Error("database or disk is full")) : Promise.resolve();
    },
    freeBytes: () => state.freeBytes,
    minFreeBytes,
    isInPlace: () => state.isInPlace,
  });
  return { clock, lines, state, health };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("WriteHealth.check() tries a write when the last one was ten seconds ago, and else passes at once", async () => {
  const { clock, state, health } = stage();
  await health.check();
  assertEquals([state.probes, health.check()], [1, undefined]);
  clock.advance(9_999);
  assertEquals(health.check(), undefined);
  clock.advance(1);
  state.isBroken = true;
  const error = await assertRejects(async () => await health.check(), GatewayError);
  assertEquals([error.code, error.status, error.details.retryAfterSeconds], ["storage_unavailable", 503, 10]);
});

Deno.test("WriteHealth refuses at once after a failure and probes after 1, 2, 4 and at most 30 seconds", async () => {
  const { clock, lines, state, health } = stage();
  state.isBroken = true;
  health.noteFailure(new Error("database or disk is full"));
  health.noteFailure(new Error("database or disk is full"));
  assertThrows(() => health.check(), GatewayError);
  const at: number[] = [];
  for (let second = 1; second <= 100; second++) {
    const before = state.probes;
    clock.advance(1_000);
    await turn();
    if (state.probes > before) at.push(second);
  }
  assertEquals(at, [1, 3, 7, 15, 31, 61, 91]);
  state.isBroken = false;
  clock.advance(30_000);
  await turn();
  assertEquals([health.failure, health.check()], [null, undefined]);
  assertEquals(lines, ["store_unwritable", "store_writable"]);
  assertEquals(clock.waiting, 0);
});

Deno.test("WriteHealth refuses while too little of the disk is free, and says so once", () => {
  const { clock, lines, state, health } = stage(50);
  health.noteSuccess();
  assertEquals(health.check(), undefined);
  state.freeBytes = 49;
  clock.advance(250);
  assertThrows(() => health.check(), GatewayError);
  assertThrows(() => health.check(), GatewayError);
  assertEquals(health.failure, "49 bytes of disk are free, expected at least 50");
  state.freeBytes = 50;
  clock.advance(250);
  assertEquals([health.check(), health.failure], [undefined, null]);
  assertEquals(lines, ["disk_low", "disk_free"]);
});

Deno.test("WriteHealth refuses while the file of the store is not at its path, and says so once", () => {
  const { clock, lines, state, health } = stage();
  health.noteSuccess();
  assertEquals(health.check(), undefined);
  state.isInPlace = false;
  clock.advance(250);
  for (let n = 0; n < 3; n++) assertThrows(() => health.check(), GatewayError);
  assertEquals(health.failure?.includes("removed"), true);
  state.isInPlace = true;
  clock.advance(250);
  assertEquals([health.check(), health.failure], [undefined, null]);
  assertEquals(lines, ["store_moved", "store_in_place"]);
});
