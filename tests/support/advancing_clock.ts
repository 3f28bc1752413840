import { type ManualClock, until } from "./manual_clock.ts";

/** Advances `clock` from timer to timer until `play` has ended. */
export async function whileAdvancing<T>(clock: ManualClock, play: () => Promise<T>): Promise<T> {
  let isOver = false;
  const playing = play().finally(() => isOver = true);
  playing.catch(() => {});
  while (!isOver) {
    await until(() => isOver || clock.waiting > 0);
    if (!isOver) clock.advance(1_000);
  }
  return await playing;
}
