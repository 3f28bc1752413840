const TURN_MS = 2;

/** A watch on how long a thread works before it takes anything else. */
export interface ThreadWatch {
  /** The longest turn of its event loop since the last call, in milliseconds of processor time. */
  take(): number;
  /** Ends the watch. */
  stop(): void;
}

/**
 * Watches the thread that calls it. What other processes do meanwhile makes no turn longer.
 *
 * @param onLonger Called with the span whenever a turn was longer than every one before it.
 */
export function watchThread(onLonger: (ms: number) => void = () => {}): ThreadWatch {
  let [longest, before] = [0, processorMs()];
  const timer = setInterval(() => {
    const span = processorMs() - before;
    if (span > longest) onLonger(longest = span);
    before = processorMs();
  }, TURN_MS);
  return {
    take() {
      const taken = longest;
      longest = 0;
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}

/** Processor time of this thread. Source: Linux "Scheduler Statistics", `/proc/<pid>/schedstat`. */
function processorMs(): number {
  return Number(Deno.readTextFileSync("/proc/thread-self/schedstat").split(" ", 1)[0]) / 1_000_000;
}
