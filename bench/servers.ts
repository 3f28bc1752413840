import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { canPin, ownProgram, type Server, startServer } from "./child.ts";
import type { Servers } from "./contenders.ts";
import { type GatewayOptions, startGateway } from "./gateway.ts";
import { PEER, startPeer } from "./peer.ts";

/** The core of each part; the measured server has one to itself. Null: any. */
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
    description: `Every measured server runs on core 0, one at a time; ${others}.`,
  };
}

/** The servers, and notes about them. */
export interface StartedServers {
  readonly servers: Servers;
  readonly gatewayOptions: GatewayOptions;
  readonly remarks: readonly string[];
}

/** Starts all servers. Each one is added to `running` as soon as it runs. */
export async function startServers(
  { folder, cores, withPeer }: { readonly folder: string; readonly cores: Cores; readonly withPeer: boolean },
  running: Server[],
): Promise<StartedServers> {
  const keep = (server: Server) => (running.push(server), server);
  const upstream = keep(await startProgram("upstream", [], folder, cores.upstream));
  const bare = keep(await startProgram("bare_proxy", [`http://127.0.0.1:${upstream.port}`], folder, cores.server));
  const gatewayOptions = {
    folder: await newFolder(folder, "gateway"),
    upstreamPort: upstream.port,
    core: cores.server,
  };
  const gateway = keep(await startGateway(gatewayOptions));
  const peer = withPeer ? await startPeer(await newFolder(folder, "peer"), cores.server) : "this is a quick run";
  const name = `d: ${PEER.packageName} ${PEER.version}`;
  if (typeof peer === "string") {
    return {
      servers: { upstream, bare, gateway, peer: null },
      gatewayOptions,
      remarks: [`${name} was omitted: ${peer}.`],
    };
  }
  keep(peer.server);
  return {
    servers: { upstream, bare, gateway, peer: peer.server },
    gatewayOptions,
    remarks: [`${name} runs ${peer.note}.`],
  };
}

async function startProgram(
  name: string,
  args: readonly string[],
  folder: string,
  core: number | null,
): Promise<Server> {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const command = ownProgram(program, ...args);
  return await startServer({ name, command, logPath: join(folder, `${name}.log`), core });
}

/** Creates a new folder. */
export async function newFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await Deno.mkdir(folder);
  return folder;
}
