/** The resources that a process has used so far. */
export interface ProcessState {
  /** Processor time in milliseconds, of all threads and of the kernel for them; to the nearest ten. */
  readonly cpuMs: number;
  /** Current memory. */
  readonly residentBytes: number;
  /** Peak memory. */
  readonly peakBytes: number;
}

/** The kernel reports hundredths of a second. Source: proc(5), sysconf(3) `_SC_CLK_TCK`. */
const MS_PER_TICK = 10;

/** The resources of a process; null without `/proc`, or when the process has ended. Source: proc(5). */
export async function processState(pid: number): Promise<ProcessState | null> {
  // A separate program, as Deno itself reads from /proc only with every permission.
  const { success, stdout } = await new Deno.Command("cat", {
    args: [`/proc/${pid}/stat`, `/proc/${pid}/status`],
    stderr: "null",
  }).output();
  return success ? readProcessState(new TextDecoder().decode(stdout)) : null;
}

/**
 * The processor time of a process's main thread in milliseconds; null without `/proc`, or when the process has ended.
 * Source: Linux "Scheduler Statistics".
 */
export async function mainThreadMs(pid: number): Promise<number | null> {
  const { success, stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/schedstat`], stderr: "null" })
    .output();
  return success ? Number(new TextDecoder().decode(stdout).split(" ", 1)[0]) / 1_000_000 : null;
}

/**
 * The processor time of the children of a process that have ended, and of theirs, in milliseconds; null without
 * `/proc`, or when the process has ended. Source: proc(5).
 */
export async function endedChildrenMs(pid: number): Promise<number | null> {
  const { success, stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`], stderr: "null" }).output();
  return success ? ticksOf(new TextDecoder().decode(stdout), [13, 14]) * MS_PER_TICK : null;
}

/**
 * Processor time of a process and its children, also of those that have ended, in milliseconds; null without `/proc`,
 * or when the process has ended. For a server with a process for each connection.
 */
export async function familyCpuMs(pid: number): Promise<number | null> {
  // A process that ends meanwhile is missing, which `cat` reports.
  const { stdout } = await new Deno.Command("sh", { args: ["-c", "cat /proc/[0-9]*/stat"], stderr: "null" }).output();
  return readFamilyCpuMs(new TextDecoder().decode(stdout), pid);
}

/** Reads the `stat` of many processes, a line for each. */
export function readFamilyCpuMs(text: string, pid: number): number | null {
  const lines = text.split("\n");
  const own = lines.find((line) => line.startsWith(`${pid} (`));
  if (own === undefined) return null;
  const children = lines.filter((line) => fieldsOf(line)[1] === String(pid));
  const ticks = ticksOf(own, [11, 12, 13, 14]) + children.reduce((sum, line) => sum + ticksOf(line, [11, 12]), 0);
  return ticks * MS_PER_TICK;
}

/** The sum of fields: 11 and 12 are the times of a process, 13 and 14 those of its children that have ended. */
function ticksOf(line: string, indexes: readonly number[]): number {
  const fields = fieldsOf(line);
  return indexes.reduce((sum, index) => sum + Number(fields[index]), 0);
}

/** Reads `stat` and `status`, one after the other. Throws a `RangeError` when a figure is missing. */
export function readProcessState(text: string): ProcessState {
  const [line = text] = text.split("\n", 1);
  const fields = fieldsOf(line);
  const [userTicks, kernelTicks] = [Number(fields[11]), Number(fields[12])];
  if (Number.isNaN(userTicks + kernelTicks)) throw new RangeError("Cannot read the process's times");
  return {
    cpuMs: (userTicks + kernelTicks) * MS_PER_TICK,
    residentBytes: kilobytesOf(text, "VmRSS") * 1024,
    peakBytes: kilobytesOf(text, "VmHWM") * 1024,
  };
}

/** The fields of `stat` from the third on. The second is the name in parentheses, which may itself contain both. */
function fieldsOf(line: string): string[] {
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

function kilobytesOf(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status);
  if (found === null) throw new RangeError(`Cannot read the process's memory: no ${name}`);
  return Number(found[1]);
}
