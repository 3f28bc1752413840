import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { SCENARIOS } from "./cases.ts";
import { ownProgram, type Server, startServer } from "./child.ts";
import { CALLER_KEY, type GatewayOptions, modelFor, startGateway } from "./gateway.ts";
import { type ContestOptions, cpuUsPerReply, measure } from "./contest.ts";
import type { Contender } from "./contenders.ts";
import { bodyOf } from "./load_request.ts";
import { newFolder } from "./servers.ts";
import { type Range, rangeOf } from "./statistics.ts";

/** A part of the gateway, or the gateway in some configuration, and what it costs. */
export interface Piece {
  readonly title: string;
  /** The figure of 2026-11-22, before the work on the request path; null where there is none. */
  readonly before: number | null;
  /** Processor microseconds per JSON request of 1 KB at 32 connections; null when it could not be measured. */
  readonly cpuUs: Range | null;
  /** Why it could not be measured. */
  readonly fault: string | null;
}

type PieceSource = Pick<Piece, "title" | "before"> & {
  readonly start: (options: GatewayOptions) => Promise<Server>;
};

/** V8 compiles the code of a plain request for about as long under load. */
const WARMING_SECONDS = 12;

const PIECES: readonly PieceSource[] = [
  { title: "`Deno.serve` and `fetch`, whole bodies", before: 84, start: scratch("fetch") },
  { title: "`Deno.serve` and our HTTP client, whole bodies", before: 38, start: scratch("client") },
  { title: "… with key hash, request id, JSON reader, splice and header fields", before: 76, start: scratch("edits") },
  {
    title: "the gateway, all prices zero",
    before: 118,
    start: (options) => startGateway({ ...options, tokenPrice: "0" }),
  },
  {
    title: "the gateway with charges, `billing.durability: process`",
    before: null,
    start: (options) => startGateway({ ...options, durability: "process" }),
  },
  {
    title: "the gateway with charges, `billing.durability: power`",
    before: 178,
    start: (options) => startGateway({ ...options, durability: "power" }),
  },
];

/** Measures every piece, in turn, with the load of JSON at 32 connections. Its servers end with it. */
export async function measurePieces(gateway: GatewayOptions, options: ContestOptions): Promise<Piece[]> {
  const folder = await newFolder(gateway.folder, "pieces");
  const started: { readonly contender: Contender | null; readonly fault: string | null }[] = [];
  for (const [index, { start }] of PIECES.entries()) {
    const own = { ...gateway, folder: await newFolder(folder, String(index)) };
    try {
      started.push({ contender: contenderAt(await start(own)), fault: null });
    } catch (error) {
      started.push({ contender: null, fault: String(error).split("\n").slice(0, 2).join(" ") });
    }
  }
  const values = started.map((): number[] => []);
  const load = SCENARIOS.find(({ id }) => id === "json_32")!;
  try {
    // The first round lets V8 compile the code.
    for (let round = 0; round <= options.rounds; round++) {
      options.onProgress(`pieces: round ${round} of ${options.rounds}`);
      for (const [index, { contender }] of started.entries()) {
        if (contender === null) continue;
        const result = await measure(contender, load, round === 0 ? { ...options, seconds: WARMING_SECONDS } : options);
        const us = cpuUsPerReply(result);
        if (round > 0 && us !== null && us !== undefined) values[index]?.push(us);
      }
    }
  } finally {
    await Promise.all(started.map(({ contender }) => contender?.server?.stop()));
  }
  return PIECES.map(({ title, before }, index) => ({
    title,
    before,
    fault: started[index]?.fault ?? null,
    cpuUs: rangeOf(values[index] ?? []),
  }));
}

function scratch(parts: string): PieceSource["start"] {
  const program = fileURLToPath(new URL("./pieces/scratch_proxy.ts", import.meta.url));
  return ({ folder, upstreamPort, core }) =>
    startServer({
      name: `scratch proxy (${parts})`,
      command: ownProgram(program, String(upstreamPort), parts),
      logPath: join(folder, "scratch.log"),
      core,
    });
}

/** Scratch proxies take any path and model, so all pieces get the gateway's request. */
function contenderAt(server: Server): Contender {
  return {
    id: "pass",
    label: server.name,
    server,
    ask: (mode, bytes) => ({
      port: server.port,
      path: "/v1/chat/completions",
      headers: { "content-type": "application/json", "authorization": `Bearer ${CALLER_KEY}` },
      body: bodyOf("chat", { model: modelFor("chat", mode), mode, bytes }),
    }),
  };
}
