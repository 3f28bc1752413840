import { hasFreeDescriptors } from "../lib/process/descriptors.ts";
import { MIN_FREE_DESCRIPTORS } from "../lib/process/late.ts";
import { ownAcceptPause } from "../lib/process/own_heartbeat.ts";

/** What must be free if other threads go on accepting connections. They rarely take so many in some milliseconds. */
const MIN_FREE_BESIDE_OTHERS = 256;

/**
 * Calls a function that starts a thread, if enough descriptors are free. Without one for the new thread the platform
 * ends the process, so other threads accept no connections meanwhile.
 *
 * @returns What the function returns; null if it was not called.
 */
export function startWithDescriptors<T>(start: () => T): T | null {
  const startIf = (free: number) => hasFreeDescriptors(free) ? start() : null;
  const pause = ownAcceptPause();
  // No connection comes while this thread starts another.
  if (pause === null || !pause.hasOthers) return startIf(MIN_FREE_DESCRIPTORS);
  const paused = pause.during(() => ({ started: startIf(MIN_FREE_DESCRIPTORS) }));
  return paused === null ? startIf(MIN_FREE_BESIDE_OTHERS) : paused.started;
}
