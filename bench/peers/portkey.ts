import { join } from "node:path";
import { freePort, isInstalled, run, startServer } from "../child.ts";
import type { PeerOptions, RunningPeer } from "./peer.ts";

const PACKAGE = { name: "@portkey-ai/gateway", version: "1.15.2" };
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
 * Installs Portkey's gateway from the npm registry and starts it. It has no keys, balances or charges of its own.
 *
 * @returns The peer, or the reason why there is none.
 */
export async function startPortkey({ folder, upstreamPort, core }: PeerOptions): Promise<RunningPeer | string> {
  if (!await isInstalled("npm") || !await isInstalled("node")) return "npm or node is not installed";
  const spec = `${PACKAGE.name}@${PACKAGE.version}`;
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"];
  try {
    await run(["npm", "install", ...quiet, "--prefix", folder, spec], { timeoutMs: INSTALL_MS });
  } catch (error) {
    return `npm could not install ${spec}: ${firstLineOf(error)}`;
  }
  const program = join(folder, "node_modules", PACKAGE.name, "build", "start-server.js");
  const note = await mendStreams(program);
  const command = ["node", program, "--headless", `--port=${freePort()}`];
  const server = await startServer({ name: spec, command, logPath: join(folder, "peer.log"), core });
  return {
    id: "portkey",
    label: "Portkey",
    server,
    note: `is ${spec} ${note}. Before the first chunk of a stream it pauses for 25 ms by design`,
    // Source: the peer's documentation, "Custom Hosts".
    headersFor: (mode) => ({
      "authorization": "Bearer upstream-key",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/${mode}`,
    }),
    modelFor: () => "canned-1",
  };
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

function firstLineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = message] = message.split("\n", 1);
  return line;
}
