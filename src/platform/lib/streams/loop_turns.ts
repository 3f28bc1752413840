import { AsyncLocalStorage } from "node:async_hooks";

/**
 * The work of a stream between two turns of the event loop. The platform delivers data that has arrived already without
 * such a turn, so that a fast vendor would hold up every other stream.
 */
export const MAX_TURN_READS = 32;
/** As {@linkcode MAX_TURN_READS}, in bytes. */
export const MAX_TURN_BYTES = 65_536;
/** As {@linkcode MAX_TURN_READS}, in events. */
export const MAX_TURN_EVENTS = 100;

/** How long those that waited for a turn work in it together. The others wait for the next one. */
const TURN_MS = 5;

let waiting: (() => void)[] = [];
let hasTimer = false;

/**
 * Calls a function in a later turn of the event loop, after the timers that were due. It keeps its asynchronous
 * context.
 *
 * @param resume Must not throw.
 */
export function afterTurn(resume: () => void): void {
  waiting.push(AsyncLocalStorage.bind(resume));
  startTimer();
}

/** Resolves in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => afterTurn(resolve));
}

function startTimer(): void {
  if (hasTimer) return;
  hasTimer = true;
  // Not an immediate: those run before timers that are due.
  setTimeout(onTurn, 0);
}

function onTurn(): void {
  hasTimer = false;
  const due = waiting;
  waiting = [];
  const startedAt = performance.now();
  for (const [index, resume] of due.entries()) {
    if (index > 0 && performance.now() - startedAt > TURN_MS) {
      waiting = [...due.slice(index), ...waiting];
      return startTimer();
    }
    resume();
  }
}
