import type { Server } from "./child.ts";
import type { Servers } from "./contenders.ts";
import type { ProcessState } from "./process_state.ts";
import { treeState } from "./process_tree.ts";

/**
 * The memory of a server and its child processes before its first request, half a minute after the start, and a minute
 * after its last request; null where it cannot be measured.
 */
export interface MemoryUse {
  readonly name: string;
  readonly idle: ProcessState | null;
  readonly after: ProcessState | null;
}

/** How long after the start idle memory is measured. */
export const IDLE_AFTER_MS = 30_000;

/** The gateway in the report. */
export const GATEWAY_NAME = "Switchyard";

/** A gateway with one provider and one key in the report. It gets no load. */
export const SMALL_GATEWAY_NAME = "Switchyard, one provider";

/** How long after the load the memory is measured. */
export const AFTER_LOAD_MS = 60_000;

/** The measured servers, by their names in the report. */
export function measuredServers({ bare, node, gateway, peers }: Servers): ReadonlyMap<string, Server> {
  return new Map([
    [GATEWAY_NAME, gateway],
    ["bare Deno", bare],
    ...(node === null ? [] : [[node.label, node.server] as const]),
    ...peers.map(({ label, server }) => [label, server] as const),
  ]);
}

/** The memory of every server now. */
export async function memoryOf(servers: ReadonlyMap<string, Server>): Promise<Map<string, ProcessState | null>> {
  const states = [...servers].map(async ([name, { pid }]) => [name, await treeState(pid)] as const);
  return new Map(await Promise.all(states));
}

/** Joins two measurements of the same servers. */
export function memoryUses(
  idle: ReadonlyMap<string, ProcessState | null>,
  after: ReadonlyMap<string, ProcessState | null>,
): MemoryUse[] {
  return [...idle].map(([name, state]) => ({ name, idle: state, after: after.get(name) ?? null }));
}
