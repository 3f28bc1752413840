import process from "node:process";
import { type Clock, systemClock } from "../lib/basics/clock.ts";
import { tryWebThread } from "./web_thread.ts";

/** Options of {@linkcode startMemoryReturn}. The defaults measure this process. */
export interface MemoryReturnOptions {
  readonly clock?: Clock;
  /** The memory that the process holds. */
  readonly residentBytes?: () => number;
  /** The processor time that the process has used since its start, in milliseconds. */
  readonly usedCpuMs?: () => number;
  /** Returns the memory that the process holds and does not use. */
  readonly returnMemory?: () => void;
}

/** Time between two checks. */
export const CHECK_EVERY_MS = 10_000;

/** The most processor time between two checks of a quiet process: a twentieth of a core. */
export const QUIET_CPU_MS = 500;

/**
 * The number of quiet checks before memory is returned. V8 frees its own garbage up to 30 seconds after load, and takes
 * some seconds for it. Source: docs/decisions/0061-memory-after-load.md.
 */
export const QUIET_CHECKS = 4;

/**
 * The check after the start that returns memory if it is quiet. That memory is mostly the allocator's: texts of
 * modules, and what reading the configuration took. Before the second check not all of it is free.
 */
const START_CHECK = 2;

/** Memory beyond the least amount so far for which a return is worth its cost, 25 ms of processor time. */
export const WORTHWHILE_BYTES = 16 * 1024 * 1024;

/**
 * What a gateway holds a minute after its start. The first start of a version translates TypeScript in many threads,
 * which leaves 60 MiB more in the allocator. Source: docs/decisions/0076-memory-after-the-first-start.md.
 */
export const STARTED_BYTES = 88 * 1024 * 1024;

/**
 * Returns the memory that the process does not use to the system, after the start and after each load. The allocator of
 * glibc keeps freed memory below the last block in use, about 100 MiB after load, until `malloc_trim` returns it.
 *
 * It runs when the process was quiet for 30 to 40 seconds and holds more than before the load, or than most gateways
 * hold after a start; and once when it is quiet after its start.
 *
 * @returns A function that stops it.
 */
export function startMemoryReturn({
  clock = systemClock,
  residentBytes = () => Deno.memoryUsage().rss,
  usedCpuMs = usedCpuOfProcess,
  returnMemory = returnByThread,
}: MemoryReturnOptions = {}): () => void {
  let leastBytes = Math.min(residentBytes(), STARTED_BYTES);
  let cpuMs = usedCpuMs();
  let quietChecks = 0;
  let hasReturned = false;
  let checks = 0;
  let stop = clock.after(CHECK_EVERY_MS, check);

  function check(): void {
    const [lastMs, nowMs] = [cpuMs, usedCpuMs()];
    cpuMs = nowMs;
    quietChecks = nowMs - lastMs <= QUIET_CPU_MS ? quietChecks + 1 : 0;
    const bytes = residentBytes();
    const isMuch = bytes > leastBytes + WORTHWHILE_BYTES;
    // V8 frees more later, so the return after more checks may follow.
    if (++checks === START_CHECK && quietChecks > 0 && isMuch) returnMemory();
    // What a return leaves is in use, so it is not tried again for it.
    leastBytes = hasReturned ? bytes : Math.min(leastBytes, bytes);
    hasReturned = quietChecks === QUIET_CHECKS && isMuch;
    if (hasReturned) returnMemory();
    stop = clock.after(CHECK_EVERY_MS, check);
  }

  return () => stop();
}

function usedCpuOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * Starts a thread that ends at once. Deno calls `malloc_trim(0)` whenever a thread of its workers ends, on Linux; there
 * is no other way to it without a permission for native code. Source: Deno pull request 32617.
 */
function returnByThread(): void {
  // Without a thread the memory stays until the next time; that is no reason to end.
  tryWebThread({
    entry: "data:application/javascript,close()",
    onStart: (thread) => thread.onerror = (event) => event.preventDefault(),
  });
}
