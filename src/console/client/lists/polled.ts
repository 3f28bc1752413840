import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, UNREACHABLE } from "../api.ts";
import { returns } from "../reach.ts";

/** Data that is read again and again. */
export interface Polled<T> {
  /** Null until it was read. */
  readonly data: T | null;
  /** Why the last read failed; null if it did not. */
  readonly error: ApiError | null;
  /** Reads at once. */
  readonly reload: () => void;
}

/** When data is read again. */
export interface PolledEvery<T> {
  /** Null to read once. */
  readonly everyMs: number | null;
  /** Whether data changes no more. Default: it may always change. */
  readonly isFinal?: (data: T) => boolean;
}

/**
 * Reads data, again whenever its name changes, and every `everyMs` while the page is visible.
 *
 * @param name Names what is read. Data of an earlier name is not shown.
 * @param load Reads it.
 * @param every Milliseconds, until `isFinal` holds for what was read. Default: it is read once.
 */
export function usePolled<T>(
  name: string,
  load: (signal: AbortSignal) => Promise<T>,
  every: number | PolledEvery<T> | null = null,
): Polled<T> {
  const { everyMs, isFinal = () => false }: PolledEvery<T> = typeof every === "object" && every !== null
    ? every
    : { everyMs: every };
  const [state, setState] = useState<{ name: string; data: T | null; error: ApiError | null }>(
    { name, data: null, error: null },
  );
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isRead = false;
    const run = async () => {
      if (!document.hidden) {
        try {
          const data = await latest.current(ended.signal);
          if (!ended.signal.aborted) setState({ name, data, error: null });
          isRead = isFinal(data);
        } catch (error) {
          if (ended.signal.aborted) return;
          // The notice above the page says so, and this is read again when the gateway is back.
          const isAway = error instanceof ApiError && error.code === UNREACHABLE;
          if (!isAway) {
            setState((before) => ({ name, data: before.name === name ? before.data : null, error: error as ApiError }));
          }
        }
      }
      if (everyMs !== null && !isRead && !ended.signal.aborted) timer = setTimeout(run, everyMs);
    };
    void run();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [name, everyMs, round, returns.value]);
  const isCurrent = state.name === name;
  return {
    data: isCurrent ? state.data : null,
    error: isCurrent ? state.error : null,
    reload: () => setRound((before) => before + 1),
  };
}
