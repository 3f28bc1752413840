import { fileURLToPath } from "node:url";

/** A CPU profile as V8 writes it. Source: Chrome DevTools Protocol, "Profiler.Profile". */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of the nodes on top of the stack, in order of time. */
  readonly samples?: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas?: readonly number[];
}

/** A function at one place of the call tree. */
export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** A function and its share of the time in which JavaScript ran, from 0 to 1. */
export interface Share {
  readonly label: string;
  readonly share: number;
}

/** The distribution of a profile's time. */
export interface TimeSpent {
  /**
   * Share of all time, from 0 to 1, in which no JavaScript ran. The process waited, or the native code of Deno or the
   * kernel ran on its main thread; a profile cannot distinguish them.
   */
  readonly outside: number;
  /** Time in the function itself, of every origin; largest first. */
  readonly self: readonly Share[];
  /** Time in the gateway's own functions and their callees, up to where they wait; largest first. */
  readonly inclusive: readonly Share[];
}

const MAX_LIST_ENTRIES = 12;
const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));

/** Summarises a profile. */
export function timeSpent({ nodes, samples = [], timeDeltas = [] }: CpuProfile): TimeSpent {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const self = new Map<string, number>();
  const inclusive = new Map<string, number>();
  let inside = 0;
  let outside = 0;
  samples.forEach((id, index) => {
    const top = byId.get(id);
    if (top === undefined) return;
    const span = timeDeltas[index] ?? 0;
    if (isOutside(top)) {
      outside += span;
      return;
    }
    inside += span;
    add(self, labelOf(top), span);
    for (const label of ownLabels(top, byId, parents)) add(inclusive, label, span);
  });
  return {
    outside: shareOf(outside, inside + outside),
    self: largest(self, inside),
    inclusive: largest(inclusive, inside),
  };
}

/**
 * V8 has names for idle time. In addition, the top of an empty stack is reported as the call that started the profile.
 */
function isOutside({ callFrame: { functionName, url } }: ProfileNode): boolean {
  return functionName === "(idle)" || functionName === "(program)" || url.endsWith("/inspector.js");
}

/** The gateway's own functions on the stack, each once even if it is recursive. */
function ownLabels(
  top: ProfileNode,
  byId: ReadonlyMap<number, ProfileNode>,
  parents: ReadonlyMap<number, number>,
): Set<string> {
  const labels = new Set<string>();
  for (let node: ProfileNode | undefined = top; node !== undefined; node = byId.get(parents.get(node.id) ?? -1)) {
    if (pathOf(node)?.startsWith("src/")) labels.add(labelOf(node));
  }
  return labels;
}

/** `relay src/texts/relay.ts:60`; a function without a file, such as the garbage collector, has only its name. */
function labelOf(node: ProfileNode): string {
  const { functionName, url, lineNumber } = node.callFrame;
  const name = functionName === "" ? "(anonymous)" : functionName;
  return url === "" ? name : `${name} ${pathOf(node) ?? url}:${lineNumber + 1}`;
}

/** A path within the repository; null for other code. */
function pathOf({ callFrame: { url } }: ProfileNode): string | null {
  const path = url.startsWith("file://") ? fileURLToPath(url) : url;
  return path.startsWith(REPOSITORY) ? path.slice(REPOSITORY.length) : null;
}

function add(sums: Map<string, number>, label: string, span: number): void {
  sums.set(label, (sums.get(label) ?? 0) + span);
}

function largest(sums: ReadonlyMap<string, number>, total: number): Share[] {
  return [...sums]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_LIST_ENTRIES)
    .map(([label, span]) => ({ label, share: shareOf(span, total) }));
}

function shareOf(span: number, total: number): number {
  return total === 0 ? 0 : span / total;
}
