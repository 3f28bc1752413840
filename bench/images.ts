import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Server, startServer } from "./child.ts";
import { processState } from "./process_state.ts";

/** The figures of one server with one kind of request. */
export interface ImageFigures {
  readonly server: "gateway" | "bare proxy";
  /** `reply`: a generation with a 4 MB image in base64; `edit`: a form of three files, 45 MB together. */
  readonly request: "reply" | "edit";
  readonly parallel: number;
  readonly requests: number;
  readonly seconds: number;
  /** The throughput of the heavy side: received replies or sent bodies. */
  readonly megabytesPerSecond: number;
  /** The server's processor time for one request. */
  readonly cpuMsPerRequest: number;
  /** The server's peak memory since its start. */
  readonly peakBytes: number;
}

/** Options of the measurement. */
export interface ImageBenchOptions {
  /** The folder of logs, configuration and uploads. */
  readonly folder: string;
  /** Replies of 4 MB. Default 100, ten concurrent ones. */
  readonly replies?: number;
  /** Edits of 45 MB. Default 20, all concurrent. */
  readonly edits?: number;
}

const KEY = "sk-bench-images-0000000000";
const REPLY_BYTES = 4_000_000;
const FILE_BYTES = 14_990_000;
const FILES = 3;
const CHUNK_BYTES = 65_536;
const REPLIES_AT_ONCE = 10;
const MEGABYTE = 1_000_000;
/** The start of a PNG, up to its size of 1024 by 1024. */
const PNG_HEAD = Uint8Array.fromBase64("iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAADwf7zU");

/**
 * Measures heavy image requests through the gateway and through the bare proxy, each restarted for each kind of
 * request.
 */
export async function benchImages(options: ImageBenchOptions): Promise<ImageFigures[]> {
  const { folder, replies = 100, edits = 20 } = options;
  const vendor = await startServer({ name: "vendor", command: script("image_vendor.ts"), ...logIn(folder, "vendor") });
  const figures: ImageFigures[] = [];
  try {
    for (const request of ["reply", "edit"] as const) {
      const count = request === "reply" ? replies : edits;
      const parallel = request === "reply" ? Math.min(REPLIES_AT_ONCE, replies) : edits;
      for (const server of ["bare proxy", "gateway"] as const) {
        const started = await (server === "gateway" ? startGateway : startProxy)(vendor.port, folder);
        try {
          figures.push(await drive(started, { server, request, requests: count, parallel }));
        } finally {
          await started.stop();
        }
      }
    }
  } finally {
    await vendor.stop();
  }
  return figures;
}

type Load = Pick<ImageFigures, "server" | "request" | "requests" | "parallel">;

async function drive(server: Server, load: Load): Promise<ImageFigures> {
  const send = load.request === "reply" ? requestReply : requestEdit;
  const before = await processState(server.pid);
  const startedAt = performance.now();
  let left = load.requests;
  const worker = async () => {
    while (left-- > 0) await send(server.port);
  };
  await Promise.all(Array.from({ length: load.parallel }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  const bytes = load.requests * (load.request === "reply" ? REPLY_BYTES : FILES * FILE_BYTES);
  const after = await processState(server.pid);
  const cpuMs = (after?.cpuMs ?? 0) - (before?.cpuMs ?? 0);
  return {
    ...load,
    seconds,
    megabytesPerSecond: bytes / MEGABYTE / seconds,
    cpuMsPerRequest: cpuMs / load.requests,
    peakBytes: after?.peakBytes ?? 0,
  };
}

async function requestReply(port: number): Promise<void> {
  await expectBytes(
    await fetch(`http://127.0.0.1:${port}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "bench/painter-1", prompt: "a fox", quality: "medium" }),
    }),
    REPLY_BYTES,
  );
}

async function requestEdit(port: number): Promise<void> {
  await expectBytes(
    await fetch(`http://127.0.0.1:${port}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "multipart/form-data; boundary=bench" },
      body: ReadableStream.from(formChunks()),
    }),
    400,
  );
}

async function expectBytes(answer: Response, minBytes: number): Promise<void> {
  let bytes = 0;
  for await (const chunk of answer.body!) bytes += chunk.length;
  if (answer.status !== 200 || bytes < minBytes) {
    throw new Error(`Cannot continue: got ${answer.status} with ${bytes} bytes`);
  }
}

/** Generates the form in chunks, so that the generator does not hold all of it. */
function* formChunks(): Generator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const head = (rest: string) => encoder.encode(`--bench\r\nContent-Disposition: form-data; name=${rest}\r\n\r\n`);
  for (const [name, value] of [["model", "bench/painter-1"], ["prompt", "a hat"], ["quality", "low"]]) {
    yield head(`"${name}"`);
    yield encoder.encode(`${value}\r\n`);
  }
  const chunk = new Uint8Array(CHUNK_BYTES).fill(7);
  for (let file = 0; file < FILES; file++) {
    yield head(`"image[]"; filename="${file}.png"`);
    yield PNG_HEAD;
    for (let left = FILE_BYTES - PNG_HEAD.length; left > 0; left -= chunk.length) {
      yield left >= chunk.length ? chunk : chunk.subarray(0, left);
    }
    yield encoder.encode("\r\n");
  }
  yield encoder.encode("--bench--\r\n");
}

function startProxy(vendorPort: number, folder: string): Promise<Server> {
  const command = script("bare_proxy.ts", `http://127.0.0.1:${vendorPort}`);
  return startServer({ name: "bare proxy", command, ...logIn(folder, "proxy") });
}

async function startGateway(vendorPort: number, folder: string): Promise<Server> {
  const path = join(folder, "images.json");
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      server: { isolates: 1 },
      store: "kv::memory:",
      files: join(folder, "files"),
      accounts: [{ id: "bench", balance: "1000", keys: [KEY] }],
      providers: { vendor: { kind: "openai", base_url: `http://127.0.0.1:${vendorPort}/v1`, api_key: "bench" } },
      models: [{
        id: "bench/painter-1",
        image: { edits: true },
        pricing: { prompt: "0.000001", image_output: "0.00001" },
        serves: [{ provider: "vendor" }],
      }],
      logs: { level: "warn" },
    }),
  );
  return await startServer({
    name: "gateway",
    command: program("main.ts", "serve", "--config", path),
    ...logIn(folder, "gateway"),
  });
}

function script(name: string, ...args: readonly string[]): readonly string[] {
  return program(`bench/${name}`, ...args);
}

function program(path: string, ...args: readonly string[]): readonly string[] {
  return [Deno.execPath(), "run", "--no-check", "-A", fileURLToPath(new URL(`../${path}`, import.meta.url)), ...args];
}

function logIn(folder: string, name: string) {
  return { logPath: join(folder, `${name}.log`), core: null };
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-bench-images-" });
  for (const each of await benchImages({ folder })) {
    const [rate, peak] = [each.megabytesPerSecond, each.peakBytes / MEGABYTE].map(Math.round);
    const cpu = each.cpuMsPerRequest.toFixed(1);
    console.log(`${each.request} ${each.server}: ${rate} MB/s, ${cpu} ms of a core each, peak ${peak} MB`);
  }
  await Deno.remove(folder, { recursive: true });
}
