import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { canPin, isInstalled, ownProgram, run, type Server, startServer } from "./child.ts";
import type { Servers } from "./contenders.ts";
import { type GatewayOptions, startGateway } from "./gateway.ts";
import { PACE_MS } from "./load_request.ts";
import type { NativePrograms } from "./native.ts";
import type { PeerId, RunningPeer } from "./peers/peer.ts";
import { startPeer } from "./peers/start_peer.ts";

/** The cores of each part; the measured servers have one to themselves. Null: any. */
export interface Cores {
  readonly server: number | null;
  readonly upstream: number | null;
  readonly load: number | null;
  /** The description in the report. */
  readonly description: string;
}

/** Distributes the parts over the cores of this machine. */
export async function assignCores(): Promise<Cores> {
  const count = navigator.hardwareConcurrency;
  if (count < 2 || !await canPin()) {
    const why = count < 2 ? "there is only one core" : "`taskset` is not installed";
    return { server: null, upstream: null, load: null, description: `No process is pinned to a core, as ${why}.` };
  }
  const load = Math.min(2, count - 1);
  const others = load === 1
    ? "upstream and load share core 1"
    : `the upstream is kept to core 1, the load to core ${load}`;
  return {
    server: 0,
    upstream: 1,
    load,
    description: `Every measured server runs on core 0, one at a time under load; ${others}.`,
  };
}

/** The contenders besides Switchyard that a run can have. */
export type RivalId = "bare" | "node" | PeerId;

/** What the servers are started with. */
export interface ServersOptions {
  /** An existing folder for their files. */
  readonly folder: string;
  readonly cores: Cores;
  readonly native: NativePrograms | null;
  readonly rivals: readonly RivalId[];
  /** Programs that the operator supplied, by peer. */
  readonly binaries: ReadonlyMap<string, string>;
}

/** The servers, and notes about them. */
export interface StartedServers {
  readonly servers: Servers;
  readonly gatewayOptions: GatewayOptions;
  /** Whole sentences. */
  readonly remarks: readonly string[];
}

/** Starts all servers. Each one is added to `running` as soon as it runs. Throws if one other than a peer fails. */
export async function startServers(
  { folder, cores, native, rivals, binaries }: ServersOptions,
  running: Server[],
): Promise<StartedServers> {
  const keep = (server: Server) => (running.push(server), server);
  const upstream = keep(await startUpstream(native, folder, cores.upstream));
  const origin = `http://127.0.0.1:${upstream.port}`;
  // All others are compared with it, so it always runs.
  const bare = keep(await startBareProxy(folder, origin, cores.server));
  const gatewayOptions = {
    folder: await newFolder(folder, "gateway"),
    upstreamPort: upstream.port,
    core: cores.server,
  };
  const gateway = keep(await startGateway(gatewayOptions));
  const remarks: string[] = [];
  const node = rivals.includes("node") ? await startNodeProxy(folder, origin, cores.server) : null;
  if (node !== null) keep(node.server);
  const peers: RunningPeer[] = [];
  for (const id of rivals) {
    if (id === "bare" || id === "node") continue;
    const binary = binaries.get(id) ?? null;
    const options = { folder: await newFolder(folder, id), upstreamPort: upstream.port, core: cores.server, binary };
    const peer = await startPeer(id, options);
    if (typeof peer === "string") {
      remarks.push(`${id} was omitted: ${peer}.`);
      continue;
    }
    keep(peer.server);
    peers.push(peer);
    remarks.push(`${peer.label} ${peer.note}.`);
  }
  return { servers: { upstream, bare, node, gateway, peers }, gatewayOptions, remarks };
}

/** Starts the upstream in C, or without it the one in TypeScript. */
export function startUpstream(native: NativePrograms | null, folder: string, core: number | null): Promise<Server> {
  const command = native === null
    ? ownProgram(programOf("upstream.ts"))
    : [native.upstream, native.repliesPath, String(PACE_MS)];
  return startServer({ name: "upstream", command, logPath: join(folder, "upstream.log"), core });
}

/** Starts the proxy that all others are compared with. */
export function startBareProxy(folder: string, origin: string, core: number | null): Promise<Server> {
  const command = ownProgram(programOf("bare_proxy.ts"), origin);
  return startServer({ name: "bare proxy", command, logPath: join(folder, "bare_proxy.log"), core });
}

async function startNodeProxy(folder: string, origin: string, core: number | null): Promise<Servers["node"]> {
  const program = programOf("node_proxy.mjs");
  const hasNode = await hasNodeItself();
  const command = hasNode ? ["node", program, origin] : ownProgram(program, origin);
  const server = await startServer({ name: "Node proxy", command, logPath: join(folder, "node_proxy.log"), core });
  return { server, label: hasNode ? "bare Node" : "bare Node, run by Deno" };
}

const VERSION_MS = 10_000;

/** Whether Node is installed. Where it is not, Deno gives its children a `node` that is Deno. */
async function hasNodeItself(): Promise<boolean> {
  if (!await isInstalled("node")) return false;
  const expression = "process.versions.deno === undefined";
  return (await run(["node", "-p", expression], { timeoutMs: VERSION_MS })).trim() === "true";
}

/** The path of one of the benchmark's files. */
export function programOf(name: string): string {
  return fileURLToPath(new URL(`./${name}`, import.meta.url));
}

/** Creates a new folder. */
export async function newFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await Deno.mkdir(folder);
  return folder;
}
