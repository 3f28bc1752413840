import { assertEquals } from "@std/assert";
import { ClockOffset, ClockRollbackDetector } from "../../src/platform/store/clock_rollback.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A clock of a process that is stopped after its wall clock was read. */
class StoppedClock extends ManualClock {
  stopMs = 0;

  override now(): number {
    const now = super.now();
    this.stall(this.stopMs);
    this.stopMs = 0;
    return now;
  }
}

Deno.test("a process that is stopped between two readings of its clocks finds no clock set back", () => {
  const clock = new StoppedClock();
  const detector = new ClockRollbackDetector(clock);
  for (const stopMs of [100, 499, 2_000, 60_000]) {
    clock.stopMs = stopMs;
    assertEquals(detector.takeRollbackMs(), 0);
    clock.advance(1_000);
    assertEquals(detector.takeRollbackMs(), 0);
  }
  clock.set(clock.now() - 5_000);
  assertEquals(detector.takeRollbackMs(), 5_000);
});

Deno.test("ClockOffset finds a clock set back only if its time is too early for the end of the sample", () => {
  const offset = new ClockOffset({ now: 10_000, sentMs: 0, receivedMs: 0 });
  offset.note({ now: 10_000, sentMs: 1_000, receivedMs: 1_500 }); // 1,000 ms too early at its start
  assertEquals(offset.takeRollbackMs(), 1_000);
  offset.note({ now: 10_000, sentMs: 1_000, receivedMs: 1_500 });
  assertEquals(offset.takeRollbackMs(), 0);
  offset.note({ now: 10_001, sentMs: 1_999, receivedMs: 2_499 });
  assertEquals(offset.takeRollbackMs(), 0);
  offset.note({ now: 0, sentMs: 3_000, receivedMs: 3_501 });
  assertEquals(offset.takeRollbackMs(), 0);
});

Deno.test("ClockOffset is late by at most the length of a sample, and never ahead", () => {
  let lateMs = Infinity;
  for (const first of [0, 200, 30_000]) {
    const offset = new ClockOffset({ now: 50_000, sentMs: 0, receivedMs: first });
    for (let at = 31_000; at < 40_000; at += 1_000) {
      const [sentMs, receivedMs] = [at, at + at % 7_000 / 20];
      offset.note({ now: 50_000 + at + (receivedMs - sentMs) / 2, sentMs, receivedMs });
      lateMs = 50_000 - offset.offsetMs;
      assertEquals(lateMs >= 0 && lateMs <= 500, true, String(lateMs));
      assertEquals(offset.takeRollbackMs(), 0);
    }
  }
});
