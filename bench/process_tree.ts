import { type ProcessState, processState } from "./process_state.ts";

/**
 * The resident bytes of the largest process among one and its descendants, which is the gateway: package runners such
 * as npx stay beside it, and a user may end them. Null without `/proc`, or when all have ended.
 */
export async function gatewayProcessBytes(pid: number): Promise<number | null> {
  const sizes = (await statesOf(pid)).map(({ residentBytes }) => residentBytes);
  return sizes.length === 0 ? null : Math.max(...sizes);
}

/**
 * The resources of a process and all its descendants together; null without `/proc`, or when all have ended. Memory
 * that several of them share counts several times, and their peaks need not have been at the same time.
 */
export async function treeState(pid: number): Promise<ProcessState | null> {
  const states = await statesOf(pid);
  if (states.length === 0) return null;
  const sumOf = (of: keyof ProcessState) => states.reduce((sum, state) => sum + state[of], 0);
  return { cpuMs: sumOf("cpuMs"), residentBytes: sumOf("residentBytes"), peakBytes: sumOf("peakBytes") };
}

async function statesOf(pid: number): Promise<ProcessState[]> {
  const pids = [pid, ...descendantsOf(pid, await parents())];
  // A child that has just ended has no memory to read any more.
  const states = await Promise.all(pids.map((each) => processState(each).catch(() => null)));
  return states.filter((state) => state !== null);
}

/** All descendants of a process, by the parent of each process. */
export function descendantsOf(pid: number, parentOf: ReadonlyMap<number, number>): number[] {
  const children = [...parentOf].filter(([, parent]) => parent === pid).map(([child]) => child);
  return children.flatMap((child) => [child, ...descendantsOf(child, parentOf)]);
}

async function parents(): Promise<Map<number, number>> {
  const { stdout } = await new Deno.Command("ps", { args: ["-eo", "pid=,ppid="] }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  return new Map(lines.map((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    return [pid, parent];
  }));
}
