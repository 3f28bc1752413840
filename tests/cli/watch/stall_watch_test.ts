import { assertEquals } from "@std/assert";
import { LOOK_MS, STALLED_MS, StallWatch } from "../../../src/entry/cli/process/stall_watch.ts";
import { Heartbeats } from "../../../src/platform/lib/process/heartbeats.ts";

const NONE = { stallMs: 0, stopMs: 0 };

/** Looks once a second, and returns what each look found by the second. */
function looks(watch: StallWatch, seconds: number): string[] {
  return Array.from({ length: seconds }, (_, second) => {
    const found = watch.look(LOOK_MS).map(({ type }) => type);
    return found.map((type) => `${second} ${type}`);
  }).flat();
}

Deno.test("a thread whose event loop stands still is found after five seconds, once, with its mark", () => {
  const heartbeats = new Heartbeats();
  const slot = heartbeats.open("isolate")!;
  heartbeats.beat(slot);
  heartbeats.ownMark(slot).write("stream", "req_1", "vendor");
  const watch = new StallWatch(heartbeats, NONE);
  assertEquals(looks(watch, 5), []);
  assertEquals(watch.look(LOOK_MS), [{
    type: "stalled",
    heartbeat: { kind: "isolate", beats: 1, step: "stream", id: "req_1", detail: "vendor" },
    durationMs: STALLED_MS,
  }]);
  assertEquals(looks(watch, 20), []);
  assertEquals(heartbeats.stallsOf("isolate"), 1);
  assertEquals(heartbeats.stallsOf("main"), 0);
  heartbeats.beat(slot);
  assertEquals(looks(watch, 7), ["5 stalled"]);
  assertEquals(heartbeats.stallsOf("isolate"), 2);
});

Deno.test("a thread that beats, has not started, or has ended is not found", () => {
  const heartbeats = new Heartbeats();
  const beating = heartbeats.open("main")!;
  heartbeats.open("media");
  const ended = heartbeats.open("tokens")!;
  heartbeats.beat(ended);
  const watch = new StallWatch(heartbeats, { stallMs: 6_000, stopMs: 0 });
  for (let second = 0; second < 20; second++) {
    if (second === 4) heartbeats.close(ended);
    heartbeats.beat(beating);
    assertEquals(watch.look(LOOK_MS), []);
  }
});

Deno.test("a thread that stands still for the limit ends the process; one that reads the disk does not", () => {
  for (
    const [kind, found] of [["main", ["5 stalled", "8 stalled-too-long"]], ["request log", ["5 stalled"]]] as const
  ) {
    const heartbeats = new Heartbeats();
    heartbeats.beat(heartbeats.open(kind)!);
    const watch = new StallWatch(heartbeats, { stallMs: 8_000, stopMs: 0 });
    assertEquals(looks(watch, 9), [...found]);
  }
});

Deno.test("the time in which the machine was suspended is not counted", () => {
  const heartbeats = new Heartbeats();
  heartbeats.beat(heartbeats.open("main")!);
  const watch = new StallWatch(heartbeats, { stallMs: 60_000, stopMs: 60_000 });
  heartbeats.setStopping();
  watch.look(LOOK_MS);
  assertEquals(watch.look(3_600_000), []);
  assertEquals(watch.look(-5_000), []);
});

Deno.test("a stop that takes too long ends the process", () => {
  const heartbeats = new Heartbeats();
  const watch = new StallWatch(heartbeats, { stallMs: 0, stopMs: 3_000 });
  assertEquals(looks(watch, 10), []);
  heartbeats.setStopping();
  assertEquals(looks(watch, 3), ["2 stop-too-long"]);
});

Deno.test("marks keep the start of a long text, and a shorter one replaces it", () => {
  const heartbeats = new Heartbeats();
  const slot = heartbeats.open("main")!;
  const mark = heartbeats.ownMark(slot);
  const read = () => heartbeats.read().get(slot);
  mark.write("attempt", "r".repeat(80), "p".repeat(80));
  assertEquals([read()?.id, read()?.detail], ["r".repeat(48), "p".repeat(48)]);
  mark.write("request", "req_2", "");
  assertEquals([read()?.step, read()?.id, read()?.detail], ["request", "req_2", ""]);
});

Deno.test("threads have slots of their own until none is left", () => {
  const heartbeats = new Heartbeats();
  const slots = new Set<number>();
  for (let slot = heartbeats.open("media"); slot !== null; slot = heartbeats.open("media")) slots.add(slot);
  assertEquals(slots.size, heartbeats.read().size);
  heartbeats.close(7);
  assertEquals(heartbeats.open("tokens"), 7);
});
