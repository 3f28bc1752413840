/**
 * Measures what the gateway allocates on V8's heap: for each chunk of a stream that passes through, and for each JSON
 * request of 1 KB. It counts bytes, so load on the machine hardly matters. Beside them what Deno itself allocates for a
 * chunk that JavaScript reads from a socket and writes to a response, which is the least that any gateway on it can.
 *
 *     deno run -A bench/garbage.ts WARM_UP COUNT
 *
 * prints {@linkcode Garbage} as JSON. {@linkcode measureGarbage} runs it with the flags of production.
 */
import { getHeapStatistics } from "node:v8";
import { Worker } from "node:worker_threads";
import { startApp } from "../src/entry/app/app.ts";
import { loadConfig } from "../src/config/load_config.ts";
import { jsonLog } from "../src/platform/lib/basics/log.ts";
import { argument } from "./argument.ts";
import type { PeerAnswer, PeerOrder } from "./garbage_peer.ts";
import type { Garbage } from "./garbage_run.ts";

const KEY = "bench-caller-key-0123456789";
const MODELS = { json: "bench/json", paced: "bench/paced" } as const;

/** The thread of vendor and caller. */
class Peer {
  readonly #worker = new Worker(new URL("./garbage_peer.ts", import.meta.url));

  /** Starts the thread, and resolves with the vendor's port. */
  async start(): Promise<number> {
    const answer = await this.#next();
    if (!("port" in answer)) throw new Error("Cannot start the vendor");
    return answer.port;
  }

  /** Gives an order, and resolves when it is carried out. */
  async tell(order: PeerOrder): Promise<void> {
    const next = this.#next();
    this.#worker.postMessage(order);
    const answer = await next;
    if ("failure" in answer && answer.failure !== null) throw new Error(`Cannot measure garbage: ${answer.failure}`);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): Promise<PeerAnswer> {
    return new Promise((resolve, reject) => {
      this.#worker.once("message", (answer: PeerAnswer) => resolve(answer));
      this.#worker.once("error", reject);
    });
  }
}

/** All bytes that this thread has allocated. Node's type of the statistics does not have the number. */
function allocatedBytes(): number {
  const [, bytes] = Object.entries(getHeapStatistics()).find(([name]) => name === "total_allocated_bytes") ?? [];
  if (typeof bytes !== "number") throw new Error("Cannot measure garbage: V8 does not count allocated bytes");
  return bytes;
}

/** The bytes for each of so many, after as many as V8 needs to compile the code. */
async function bytesFor(
  { warmUp, count }: Counts,
  run: (count: number) => Promise<void>,
): Promise<number> {
  await run(warmUp);
  const before = allocatedBytes();
  await run(count);
  return Math.round((allocatedBytes() - before) / count);
}

interface Counts {
  readonly warmUp: number;
  readonly count: number;
}

/** The bytes for each chunk of one stream. */
async function bytesOfChunks(peer: Peer, counts: Counts): Promise<number> {
  await peer.tell({ kind: "open", model: MODELS.paced });
  const bytes = await bytesFor(counts, (count) => peer.tell({ kind: "chunks", count }));
  await peer.tell({ kind: "close" });
  return bytes;
}

/** Measures a proxy that reads from a socket and writes what it read to its response, and does nothing else. */
async function bareChunkBytes(counts: Counts): Promise<number> {
  const peer = new Peer();
  const vendorPort = await peer.start();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => bareAnswer(request, vendorPort),
  );
  try {
    await peer.tell({ kind: "connect", port: server.addr.port, headers: {} });
    return await bytesOfChunks(peer, counts);
  } finally {
    await peer.stop();
    await server.shutdown();
  }
}

/** The chunked coding passes as content, since only the number of chunks matters. */
async function bareAnswer(request: Request, vendorPort: number): Promise<Response> {
  await request.arrayBuffer();
  const vendor = await Deno.connect({ hostname: "127.0.0.1", port: vendorPort });
  await vendor.write(new TextEncoder().encode("POST /paced/chat/completions HTTP/1.1\r\ncontent-length: 0\r\n\r\n"));
  let buffer = new Uint8Array(BUFFER_BYTES);
  let used = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const onRead = (count: number | null): void => {
        if (count === null) return; // the measurement is over
        controller.enqueue(buffer.subarray(used, used + count));
        used += count;
        if (buffer.length - used < MIN_READ_BYTES) {
          buffer = new Uint8Array(BUFFER_BYTES);
          used = 0;
        }
        read();
      };
      const read = () => vendor.read(buffer.subarray(used)).then(onRead, (error) => controller.error(error));
      read();
    },
    cancel: () => vendor.close(),
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const BUFFER_BYTES = 65_536;
const MIN_READ_BYTES = 4_096;

/** Measures the gateway with everything on: keys, balance, ledger, log lines and the log of requests. */
async function gatewayBytes(counts: Counts, folder: string): Promise<Omit<Garbage, "bareChunkBytes">> {
  const peer = new Peer();
  const vendorPort = await peer.start();
  const path = `${folder}/switchyard.json`;
  await Deno.writeTextFile(path, JSON.stringify(configOf(folder, vendorPort)));
  const config = loadConfig({ path, env: () => undefined });
  const app = await startApp({ config, log: jsonLog("info", () => {}) });
  try {
    const headers = { "content-type": "application/json", "authorization": `Bearer ${KEY}` };
    await peer.tell({ kind: "connect", port: Number(new URL(app.address).port), headers });
    const requestBytes = await bytesFor(counts, (count) => peer.tell({ kind: "requests", model: MODELS.json, count }));
    return { requestBytes, chunkBytes: await bytesOfChunks(peer, counts) };
  } finally {
    await peer.stop();
    await app.stop();
  }
}

function configOf(folder: string, vendorPort: number): unknown {
  const modes = ["json", "paced"] as const;
  return {
    server: { host: "127.0.0.1", port: 0, admin_key: "bench-admin-key-0123456789", shutdown_grace: 1, isolates: 1 },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "bench", balance: "100000.00", keys: [KEY] }],
    providers: Object.fromEntries(modes.map((mode) => [mode, {
      kind: "openai",
      base_url: `http://127.0.0.1:${vendorPort}/${mode}`,
      api_key: "upstream-key",
    }])),
    models: modes.map((mode) => ({
      id: MODELS[mode],
      pricing: { prompt: "0.00000001", completion: "0.00000001" },
      serves: [{ provider: mode }],
    })),
  };
}

if (import.meta.main) {
  const counts = { warmUp: Number(argument(0, "requests and chunks before")), count: Number(argument(1, "a number")) };
  const folder = await Deno.makeTempDir({ prefix: "switchyard-garbage-" });
  try {
    const ofGateway = await gatewayBytes(counts, folder);
    console.log(JSON.stringify({ ...ofGateway, bareChunkBytes: await bareChunkBytes(counts) } satisfies Garbage));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  Deno.exit(0);
}
