const TURN_MS = 2;

/** Measures how long a thread works before it handles the next event. */
export interface ThreadWatch {
  /** The longest turn of its event loop since the last call, in milliseconds of processor time. */
  take(): number;
  /** Ends the watch. */
  stop(): void;
}

/**
 * Watches the calling thread. Other processes do not make a turn longer.
 *
 * @param onLonger Called with the time whenever a turn was longer than all before it.
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
