import { processState } from "../process_state.ts";

/**
 * The resident bytes of the largest process among one and its descendants, which is the gateway: package runners such
 * as npx stay beside it, and a user may end them. Null without `/proc`, or when all have ended.
 */
export async function gatewayProcessBytes(pid: number): Promise<number | null> {
  const pids = [pid, ...descendantsOf(pid, await parents())];
  const states = await Promise.all(pids.map((each) => processState(each).catch(() => null)));
  const sizes = states.flatMap((state) => state === null ? [] : [state.residentBytes]);
  return sizes.length === 0 ? null : Math.max(...sizes);
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
