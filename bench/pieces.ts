import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { SCENARIOS } from "./cases.ts";
import { ownProgram, type Server, startServer } from "./child.ts";
import { CALLER_KEY, type GatewayOptions, modelFor, startGateway } from "./gateway.ts";
import { type ContestOptions, cpuUsPerChunk, cpuUsPerReply, measure } from "./contest.ts";
import type { Contender } from "./contenders.ts";
import { bodyOf } from "./load_request.ts";
import { newFolder } from "./servers.ts";
import { type Range, rangeOf } from "./statistics.ts";

/** A part of the gateway, or the gateway in some configuration, and what it costs. */
export interface Piece {
  readonly title: string;
  /** The figure of 2026-11-22, before the work on the request path; null where there is none. */
  readonly before: number | null;
  readonly load: PieceLoad;
  /** Processor microseconds for a request or a chunk; null when it could not be measured. */
  readonly cpuUs: Range | null;
  /** Why it could not be measured. */
  readonly fault: string | null;
}

/** `json`: requests of 1 KB at 32 connections, by request. `paced`: 100 paced streams, by chunk. */
export type PieceLoad = "json" | "paced";

type PieceSource = Pick<Piece, "title" | "before" | "load"> & {
  readonly start: (options: GatewayOptions) => Promise<Server>;
};

/** V8 compiles the code of a plain request for about as long under load. */
const WARMING_SECONDS = 12;
/** No mark is about a piece. */
const MAX_ROUNDS = 3;

const JSON_LOAD = { load: "json", before: null } as const;
const PACED_LOAD = { load: "paced", before: null } as const;

const PIECES: readonly PieceSource[] = [
  { ...JSON_LOAD, title: "`Deno.serve` and `fetch`, whole bodies", before: 84, start: scratch("fetch") },
  { ...JSON_LOAD, title: "`Deno.serve` and our HTTP client, whole bodies", before: 38, start: scratch("client") },
  {
    ...JSON_LOAD,
    title: "… with key hash, request id, JSON reader, splice and header fields",
    before: 76,
    start: scratch("edits"),
  },
  {
    ...JSON_LOAD,
    title: "the gateway, all prices zero",
    before: 118,
    start: (options) => startGateway({ ...options, tokenPrice: "0" }),
  },
  {
    ...JSON_LOAD,
    title: "the gateway with charges, `billing.durability: process`",
    start: (options) => startGateway({ ...options, durability: "process" }),
  },
  {
    ...JSON_LOAD,
    title: "the gateway with charges, `billing.durability: power`",
    before: 178,
    start: (options) => startGateway({ ...options, durability: "power" }),
  },
  { ...PACED_LOAD, title: "`Deno.serve` and `fetch`, a body that the runtime copies", start: scratch("copied") },
  { ...PACED_LOAD, title: "… chunks that JavaScript reads and writes, unread", start: scratch("read") },
  { ...PACED_LOAD, title: "`Deno.serve` and our HTTP client, chunks unread", start: scratch("relayed") },
  { ...PACED_LOAD, title: "the gateway with charges", start: startGateway },
];

/** Measures every piece, in turn. Its servers end with it. */
export async function measurePieces(gateway: GatewayOptions, options: ContestOptions): Promise<Piece[]> {
  const folder = await newFolder(gateway.folder, "pieces");
  const started: { readonly load: PieceLoad; readonly contender: Contender | null; readonly fault: string | null }[] =
    [];
  for (const [index, { start, load }] of PIECES.entries()) {
    const own = { ...gateway, folder: await newFolder(folder, String(index)) };
    try {
      started.push({ load, contender: contenderAt(await start(own)), fault: null });
    } catch (error) {
      started.push({ load, contender: null, fault: String(error).split("\n").slice(0, 2).join(" ") });
    }
  }
  const values = started.map((): number[] => []);
  const rounds = Math.min(options.rounds, MAX_ROUNDS);
  const scenarios = {
    json: SCENARIOS.find(({ id }) => id === "json_32")!,
    paced: SCENARIOS.find(({ id }) => id === "paced")!,
  };
  try {
    // The first round lets V8 compile the code.
    for (let round = 0; round <= rounds; round++) {
      options.onProgress(`pieces: round ${round} of ${rounds}`);
      for (const [index, { load, contender }] of started.entries()) {
        if (contender === null) continue;
        const seconds = round === 0 ? WARMING_SECONDS : options.seconds;
        const result = await measure(contender, scenarios[load], { ...options, seconds });
        const us = load === "json" ? cpuUsPerReply(result) : cpuUsPerChunk(result);
        if (round > 0 && us !== null && us !== undefined) values[index]?.push(us);
      }
    }
  } finally {
    await Promise.all(started.map(({ contender }) => contender?.server?.stop()));
  }
  return PIECES.map(({ title, before, load }, index) => ({
    title,
    before,
    load,
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
