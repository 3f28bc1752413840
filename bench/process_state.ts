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

/** Reads `stat` and `status`, one after the other. Throws a `RangeError` when a figure is missing. */
export function readProcessState(text: string): ProcessState {
  // The second field is the name in parentheses, which may itself contain blanks and parentheses.
  const [line = text] = text.split("\n", 1);
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [userTicks, kernelTicks] = [Number(fields[11]), Number(fields[12])];
  if (Number.isNaN(userTicks + kernelTicks)) throw new RangeError("Cannot read the process's times");
  return {
    cpuMs: (userTicks + kernelTicks) * MS_PER_TICK,
    residentBytes: kilobytesOf(text, "VmRSS") * 1024,
    peakBytes: kilobytesOf(text, "VmHWM") * 1024,
  };
}

function kilobytesOf(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status);
  if (found === null) throw new RangeError(`Cannot read the process's memory: no ${name}`);
  return Number(found[1]);
}
