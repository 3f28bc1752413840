import { assertEquals } from "@std/assert";
import { progressAfter } from "../../src/services/videos/polling/progress_record.ts";

Deno.test("progressAfter() keeps earlier reported values, limited to their ranges", () => {
  const queued = progressAfter({}, { isRunning: false, queuePosition: 3.2, progressPercent: -1 }, 9_000);
  assertEquals(queued, { queuePosition: 3, progressPercent: 0 });
  assertEquals(progressAfter(queued, { isRunning: null }, 9_000), queued);
  assertEquals(progressAfter(queued, { isRunning: null, queuePosition: NaN, progressPercent: 200 }, 9_000), {
    queuePosition: 3,
    progressPercent: 100,
  });
});

Deno.test("progressAfter() removes the queue position of a running job and sets its start once", () => {
  const running = progressAfter({ queuePosition: 3 }, { isRunning: true }, 9_000);
  assertEquals(running, { startedAt: 9_000 });
  assertEquals(progressAfter(running, { isRunning: true, queuePosition: 0 }, 12_000), { startedAt: 9_000 });
  assertEquals(progressAfter({}, { isRunning: true, startedAt: 4_000 }, 9_000), { startedAt: 4_000 });
  assertEquals(progressAfter({}, { isRunning: null, startedAt: -1 }, 9_000), {});
});
