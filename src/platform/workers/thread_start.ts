import { hasFreeDescriptors } from "../lib/process/descriptors.ts";
import { MIN_FREE_DESCRIPTORS } from "../lib/process/late.ts";
import { ownAcceptPause } from "../lib/process/own_heartbeat.ts";

/** More than other threads take for connections while a thread starts. To look takes about four milliseconds. */
const MANY_FREE_DESCRIPTORS = 512;

/**
 * Calls a function that starts a thread, if enough descriptors are free. Without one for the new thread the platform
 * ends the process, so other threads accept no connections meanwhile where few are left.
 *
 * @returns What the function returns; null if it was not called.
 */
export function startWithDescriptors<T>(start: () => T): T | null {
  const startIfFree = () => hasFreeDescriptors(MIN_FREE_DESCRIPTORS) ? start() : null;
  const pause = ownAcceptPause();
  // No connection comes while this thread starts another.
  if (pause === null || !pause.hasOthers) return startIfFree();
  return hasFreeDescriptors(MANY_FREE_DESCRIPTORS) ? start() : pause.during(startIfFree);
}
