import { join } from "node:path";
import { isInstalled, run, type Server, startServer } from "./child.ts";

/** The peer gateway of the comparison. */
export const PEER = { packageName: "@portkey-ai/gateway", version: "1.15.2" };

/** A running peer, and the changes that were made to it. */
export interface RunningPeer {
  readonly server: Server;
  /** For the report: whether streams needed a change. */
  readonly note: string;
}

const INSTALL_MS = 180_000;

/**
 * The peer's own streams fail under Node with `TypeError: immutable`: it adds headers to a response of `fetch`, whose
 * headers cannot be changed. The replacement copies such a response first; the peer's own responses are unchanged.
 */
const STREAM_FAULT = {
  as: "updateHeaders(e,t,a){return e.headers.append(",
  becomes:
    'updateHeaders(e,t,a){try{e.headers.delete("x-none")}catch{e=new Response(e.body,e)}return e.headers.append(',
};

/**
 * Installs the peer from the npm registry into a folder and starts it.
 *
 * @returns The peer, or a sentence with the reason why there is none.
 */
export async function startPeer(folder: string, core: number | null): Promise<RunningPeer | string> {
  if (!await isInstalled("npm") || !await isInstalled("node")) return "npm or node is not installed";
  const spec = `${PEER.packageName}@${PEER.version}`;
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"];
  try {
    await run(["npm", "install", ...quiet, "--prefix", folder, spec], { timeoutMs: INSTALL_MS });
  } catch (error) {
    return `npm could not install ${spec}: ${firstLineOf(error)}`;
  }
  const program = join(folder, "node_modules", PEER.packageName, "build", "start-server.js");
  const note = await mendStreams(program);
  const command = ["node", program, "--headless", `--port=${freePort()}`];
  try {
    const server = await startServer({ name: PEER.packageName, command, logPath: join(folder, "peer.log"), core });
    return { server, note: `${note}. Before the first chunk of a stream it pauses for 25 ms by design` };
  } catch (error) {
    return firstLineOf(error);
  }
}

async function mendStreams(program: string): Promise<string> {
  const source = await Deno.readTextFile(program);
  if (source.split(STREAM_FAULT.as).length !== 2) {
    return "as installed: the code that fails under Node was not found, so nothing was changed";
  }
  await Deno.writeTextFile(program, source.replace(STREAM_FAULT.as, () => STREAM_FAULT.becomes));
  return "with one change: as installed, its plain streams return 500 under Node (`TypeError: immutable`), because " +
    "it adds headers to an immutable response. The measured copy adds them to a copy of the response";
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function firstLineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = message] = message.split("\n", 1);
  return line;
}
