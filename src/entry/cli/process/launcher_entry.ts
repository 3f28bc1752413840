/** The module of the thread of `watchLauncher`. Nothing imports it: see `THREAD_MODULES`. */
import { holdState } from "../../../platform/lib/basics/held.ts";
import { type LauncherData, type LauncherNews, LOOKS_PER_THREAD } from "./launcher.ts";

const LOOK_MS = 1_000;
const MAX_LINKS = 6;

/** A process, and the process that started it. */
interface Link {
  readonly pid: number;
  readonly parent: number;
}

globalThis.addEventListener(
  "message",
  (event) => holdState(watch((event as MessageEvent<LauncherData>).data), "the watch of the launcher"),
  {
    once: true,
  },
);

function tell(news: LauncherNews): void {
  (globalThis as unknown as { postMessage(news: LauncherNews): void }).postMessage(news);
}

async function watch({ parent, chain }: LauncherData): Promise<void> {
  const links = chain ?? await linksFrom(parent);
  if (links.length === 0) return tell({ type: "unknown" });
  for (let looks = 0; looks < LOOKS_PER_THREAD; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    for (const { pid, parent } of links) {
      if ((await statusOf(pid))?.parent !== parent) return tell({ type: "ended" });
    }
  }
  tell({ type: "again", chain: links });
}

/** The processes between this one and npm; none if npm has not started this one. */
async function linksFrom(parent: number): Promise<readonly Link[]> {
  const links: Link[] = [];
  // Ends with the last link, as each round adds one.
  for (let pid = parent; links.length < MAX_LINKS;) {
    const status = await statusOf(pid);
    if (status === null) return [];
    if (/^np[mx]\b/.test(status.name)) return links;
    links.push({ pid, parent: status.parent });
    pid = status.parent;
  }
  return [];
}

let reads = 0;

/** The name of a process and its parent; null if it has ended. Source: proc(5), `/proc/pid/stat`. */
async function statusOf(pid: number): Promise<{ readonly name: string; readonly parent: number } | null> {
  try {
    // Read as a module, since `Deno.readTextFile` reads `/proc` only with all permissions. Modules are kept by address.
    const address = `file:///proc/${pid}/stat?${reads++}`;
    const { default: text } = await import(address, { with: { type: "text" } }) as { readonly default: string };
    const [, name = "", parent] = /^\d+ \((.*)\) \S (\d+)/.exec(text) ?? [];
    return { name, parent: Number(parent) };
  } catch {
    return null;
  }
}
