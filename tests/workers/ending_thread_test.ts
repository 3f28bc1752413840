import { assertEquals } from "@std/assert";
import { Heartbeats } from "../../src/platform/lib/process/heartbeats.ts";
import { endWatched, LOST_MS } from "../../src/platform/workers/ending_thread.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A thread to end, whose last beat is as old as the test says. */
function stage(hasExited: () => boolean = () => false) {
  const heartbeats = new Heartbeats();
  const slot = heartbeats.open("media")!;
  heartbeats.beat(slot);
  const clock = new ManualClock();
  let isEnded = false;
  const end = () => void (isEnded = true);
  return {
    heartbeats,
    slot,
    clock,
    end: () => endWatched({ heartbeats, slot, end, hasExited, clock }),
    state: () => ({ isEnded, isWatched: heartbeats.read().has(slot), lost: heartbeats.lost }),
  };
}

/** Makes the last beat of a thread old. */
function delay(heartbeats: Heartbeats, slot: number): void {
  const now = Date.now;
  Date.now = () => now() - 60_000;
  heartbeats.beat(slot);
  Date.now = now;
}

Deno.test("a thread whose event loop turns is ended at once", () => {
  const { end, state } = stage();
  end();
  assertEquals(state(), { isEnded: true, isWatched: false, lost: 0 });
});

Deno.test("a thread that stands still is lost after ten seconds, and ended when it goes on", () => {
  const { heartbeats, slot, clock, end, state } = stage();
  delay(heartbeats, slot);
  end();
  assertEquals(state(), { isEnded: false, isWatched: true, lost: 0 });
  clock.advance(LOST_MS - 1_000);
  assertEquals(state().lost, 0);
  clock.advance(1_000);
  assertEquals(state(), { isEnded: false, isWatched: true, lost: 1 });
  heartbeats.beat(slot);
  clock.advance(1_000);
  assertEquals(state(), { isEnded: true, isWatched: false, lost: 0 });
});

Deno.test("a thread that answers a stop in time, or ends by itself, is not lost", () => {
  let hasExited = false;
  for (const answers of [true, false]) {
    const { heartbeats, slot, clock, end, state } = stage(() => hasExited);
    delay(heartbeats, slot);
    end();
    clock.advance(2_000);
    if (answers) heartbeats.beat(slot);
    else hasExited = true;
    clock.advance(LOST_MS);
    assertEquals(state(), { isEnded: true, isWatched: false, lost: 0 });
  }
});
