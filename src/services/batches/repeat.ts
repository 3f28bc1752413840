import type { Clock } from "../../platform/lib/basics/clock.ts";

/** Does something regularly, whether it fails or not, with a pause after each time. Returns a function that ends it. */
export function repeat(clock: Clock, pauseMs: number, work: () => Promise<void>): () => void {
  let isOver = false;
  let stopTimer = () => {};
  const wait = () => {
    if (isOver) return; // while it was done
    stopTimer = clock.after(pauseMs, () => {
      work().catch(() => {}).finally(wait);
    });
  };
  wait();
  return () => {
    isOver = true;
    stopTimer();
  };
}
