import { parentPort } from "node:worker_threads";

/** Takes the messages of a thread: those that came before its first call, in their order, and all later ones. */
export type TakeMessages = (take: (message: unknown) => void) => void;

/**
 * Receives the messages of the main thread from now on, and holds them until the thread can take them.
 *
 * A thread calls it before its first `await`. While the entry module waits, the platform delivers messages, and drops
 * those for which nobody listens: a configuration that replaces another one at that moment would never arrive.
 */
export function holdEarlyMessages(): TakeMessages {
  let held: unknown[] | null = [];
  let take: (message: unknown) => void = (message) => void held?.push(message);
  parentPort?.on("message", (message: unknown) => take(message));
  return (taker) => {
    const early = held ?? [];
    held = null;
    take = taker;
    for (const message of early) taker(message);
  };
}
