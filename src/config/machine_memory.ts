import process from "node:process";
import v8 from "node:v8";

/** What the platform reports; given so that a test needs no machine. All in bytes. */
export interface ReportedMemory {
  /** The limit of the process's control group: huge or 0 without one, undefined where the system has none. */
  constrained(): number | undefined;
  /** The machine's memory; 0 when it is not known. */
  total(): number;
  /** What the JavaScript heap can grow to. */
  heapLimit(): number;
}

/** What is assumed where the system does not say. */
const DEFAULT_MEMORY_BYTES = 1_073_741_824;
/** A control group without a limit of version 1 reports about 2^63. */
const MAX_MEMORY_BYTES = 2 ** 50;

/**
 * The default of `limits.memory`: a quarter of the memory that the process may use, and at most half of what the
 * JavaScript heap can grow to.
 */
export function defaultMemoryLimit(reported: ReportedMemory = PLATFORM): number {
  return Math.floor(Math.min(memoryBytes(reported) / 4, reported.heapLimit() / 2));
}

/** The memory that the process may use, in bytes: the lesser of its control group's limit and the machine's memory. */
export function memoryBytes(reported: ReportedMemory): number {
  const known = [reported.constrained() ?? 0, reported.total()].filter((bytes) =>
    bytes > 0 && bytes < MAX_MEMORY_BYTES
  );
  return known.length === 0 ? DEFAULT_MEMORY_BYTES : Math.min(...known);
}

/**
 * The platform reads the control group itself. Its files are closed to programs without every permission (Deno 2.9), so
 * that they cannot be read here. Without the permission for this nothing is known.
 */
const PLATFORM: ReportedMemory = {
  constrained: () => maySeeMemory() ? process.constrainedMemory() : undefined,
  total: () => maySeeMemory() ? Deno.systemMemoryInfo().total : 0,
  heapLimit: () => v8.getHeapStatistics().heap_size_limit,
};

function maySeeMemory(): boolean {
  return Deno.permissions.querySync({ name: "sys", kind: "systemMemoryInfo" }).state === "granted";
}
