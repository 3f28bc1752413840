import process from "node:process";
import v8 from "node:v8";

/** Values that the platform reports, in bytes. Tests replace them. */
export interface ReportedMemory {
  /**
   * The limit of the process's control group: huge or 0 if there is none, undefined if the system has no such groups.
   */
  constrained(): number | undefined;
  /** The machine's memory; 0 if unknown. */
  total(): number;
  /** The maximum size of the JavaScript heap. */
  heapLimit(): number;
}

/** Used if the system reports no value. */
const DEFAULT_MEMORY_BYTES = 1_073_741_824;
/** A control group of version 1 without a limit reports about 2^63. */
const MAX_MEMORY_BYTES = 2 ** 50;

/**
 * The default of `limits.memory`: a quarter of the memory that the process can use, and at most half of the maximum
 * JavaScript heap.
 */
export function defaultMemoryLimit(reported: ReportedMemory = PLATFORM): number {
  return Math.floor(Math.min(memoryBytes(reported) / 4, reported.heapLimit() / 2));
}

/**
 * The memory that the process can use, in bytes: the smaller of its control group's limit and the machine's memory.
 */
export function memoryBytes(reported: ReportedMemory): number {
  const known = [reported.constrained() ?? 0, reported.total()].filter((bytes) =>
    bytes > 0 && bytes < MAX_MEMORY_BYTES
  );
  return known.length === 0 ? DEFAULT_MEMORY_BYTES : Math.min(...known);
}

/**
 * The platform reads the control group itself. Deno 2.9 denies its files to programs without all permissions. Without
 * the permission `systemMemoryInfo` no value is known.
 */
const PLATFORM: ReportedMemory = {
  constrained: () => maySeeMemory() ? process.constrainedMemory() : undefined,
  total: () => maySeeMemory() ? Deno.systemMemoryInfo().total : 0,
  heapLimit: () => v8.getHeapStatistics().heap_size_limit,
};

function maySeeMemory(): boolean {
  return Deno.permissions.querySync({ name: "sys", kind: "systemMemoryInfo" }).state === "granted";
}
