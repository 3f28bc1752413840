/** What a process uses at a moment. */
export interface ProcessFigures {
  /** Resident memory in bytes. */
  readonly residentBytes: number;
  /** Open file descriptors. */
  readonly descriptors: number;
  /** Processor time of all threads, in clock ticks. */
  readonly cpuTicks: number;
}

/** Reads the figures of a process from `/proc`. Throws if it has ended. */
export async function processFigures(pid: number): Promise<ProcessFigures> {
  const [status, stat] = await Promise.all([
    Deno.readTextFile(`/proc/${pid}/status`),
    Deno.readTextFile(`/proc/${pid}/stat`),
  ]);
  let descriptors = 0;
  for await (const _ of Deno.readDir(`/proc/${pid}/fd`)) descriptors++;
  const resident = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  // The name of the process is in parentheses and can contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { residentBytes: resident, descriptors, cpuTicks: Number(fields[11]) + Number(fields[12]) };
}

/** The middle of a list of numbers; 0 for an empty one. */
export function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
