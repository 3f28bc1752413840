import { dirname, join } from "node:path";
import v8 from "node:v8";

/** Reads a file, as `Deno.readTextFileSync` does; given so that a test needs no machine. */
export type ReadFile = (path: string) => string;

const CGROUP_ROOT = "/sys/fs/cgroup";
/** What is assumed where the system does not say. */
const DEFAULT_MEMORY_BYTES = 1_073_741_824;
/** A control group without a limit of version 1 reports about 2^63. */
const MAX_MEMORY_BYTES = 2 ** 50;

/**
 * The default of `limits.memory`: a quarter of the memory that the process may use, and at most half of what the
 * JavaScript heap can grow to.
 */
export function defaultMemoryLimit(read: ReadFile = Deno.readTextFileSync): number {
  const heapBytes = v8.getHeapStatistics().heap_size_limit;
  return Math.floor(Math.min(memoryBytes(read) / 4, heapBytes / 2));
}

/**
 * The memory that the process may use, in bytes: the least of the limits of its control groups (version 2, then version
 * 1) and the machine's memory. What may not be read is passed over.
 *
 * Source: Linux "Control Group v2", "Memory"; cgroups(7); proc_meminfo(5).
 */
export function memoryBytes(read: ReadFile): number {
  const known = [...cgroupLimits(read), machineBytes(read)].filter((bytes) => bytes > 0 && bytes < MAX_MEMORY_BYTES);
  return known.length === 0 ? DEFAULT_MEMORY_BYTES : Math.min(...known);
}

/** The limits of the process's own groups and of those around them. */
function cgroupLimits(read: ReadFile): number[] {
  const limits: number[] = [];
  for (const [, controllers, path] of (textOf("/proc/self/cgroup", read) ?? "").matchAll(/^\d+:([^:]*):(\/.*)$/gm)) {
    if (controllers === "") limits.push(...limitsAbove(CGROUP_ROOT, path, "memory.max", read));
    else if (controllers.split(",").includes("memory")) {
      limits.push(...limitsAbove(join(CGROUP_ROOT, "memory"), path, "memory.limit_in_bytes", read));
    }
  }
  return limits;
}

function limitsAbove(root: string, path: string, file: string, read: ReadFile): number[] {
  const limits: number[] = [];
  // In a container the root is the container's own group, and the path may not be visible.
  for (let group = path;; group = dirname(group)) {
    limits.push(bytesIn(textOf(join(root, group, file), read)));
    if (group === "/" || group === ".") return limits;
  }
}

function machineBytes(read: ReadFile): number {
  const match = /^MemTotal:\s+(\d+) kB/m.exec(textOf("/proc/meminfo", read) ?? "");
  if (match !== null) return Number(match[1]) * 1024;
  const permission = Deno.permissions.querySync({ name: "sys", kind: "systemMemoryInfo" });
  return permission.state === "granted" ? Deno.systemMemoryInfo().total : 0;
}

/** A number of bytes; 0 for "max" and for what is not there. */
function bytesIn(text: string | null): number {
  return /^\d+\s*$/.test(text ?? "") ? Number(text) : 0;
}

function textOf(path: string, read: ReadFile): string | null {
  try {
    return read(path);
  } catch {
    return null; // not Linux, or not permitted
  }
}
