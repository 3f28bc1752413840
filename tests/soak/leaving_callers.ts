import type { SeededRandom } from "../e2e/money_walk/random.ts";

/** Where callers send requests, and with which key. */
export interface CallerTarget {
  readonly port: number;
  readonly key: string;
}

/** A request as it is written to the socket. */
interface CallerRequest {
  readonly path: string;
  readonly body: unknown;
}

/** The share of callers that leave before the end. */
const LEAVING_SHARE = 0.03;
/** The longest time until a caller leaves, in milliseconds. */
const MAX_STAY_MS = 120;

/** How the requests of callers ended. */
export interface CallerCounts {
  complete: number;
  left: number;
  /** Connections that the gateway closed, or that failed. */
  broken: number;
  /** Complete responses by status. */
  readonly statuses: Map<number, number>;
}

/** Sends requests of all kinds over plain sockets. Some callers close the connection at a random instant. */
export class LeavingCallers {
  #isStopped = false;
  readonly counts: CallerCounts = { complete: 0, left: 0, broken: 0, statuses: new Map() };

  constructor(
    readonly target: () => CallerTarget,
    readonly random: SeededRandom,
    readonly share: number = LEAVING_SHARE,
  ) {}

  /** Runs until {@linkcode LeavingCallers.stop}, with so many callers at one time. */
  async run(callers: number): Promise<void> {
    await Promise.all(Array.from({ length: callers }, async () => {
      while (!this.#isStopped) await this.#call();
    }));
  }

  /** Starts no more requests. */
  stop(): void {
    this.#isStopped = true;
  }

  async #call(): Promise<void> {
    const { port, key } = this.target();
    const leaves = this.random.chance(this.share);
    const stay = leaves ? this.random.next() * MAX_STAY_MS : null;
    try {
      const status = await exchange({ port, key }, requestOf(this.random), stay);
      if (status === null) this.counts.left++;
      else {
        this.counts.complete++;
        this.counts.statuses.set(status, (this.counts.statuses.get(status) ?? 0) + 1);
      }
    } catch (error) {
      if (!isSocketError(error)) throw error;
      this.counts.broken++;
    }
  }
}

function isSocketError(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.ConnectionAborted ||
    error instanceof Deno.errors.UnexpectedEof || error instanceof Deno.errors.BadResource ||
    error instanceof Deno.errors.Interrupted;
}

/** Writes a request and reads the response to its end. Returns its status, or null if the caller left. */
async function exchange(
  { port, key }: CallerTarget,
  { path, body }: CallerRequest,
  stayMs: number | null,
): Promise<number | null> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let hasLeft = false;
  const leaving = stayMs === null ? undefined : setTimeout(() => {
    hasLeft = true;
    connection.close();
  }, stayMs);
  try {
    await writeAll(connection, requestBytes(path, key, body));
    return statusIn(await readToEnd(connection));
  } catch (error) {
    if (hasLeft) return null;
    throw error;
  } finally {
    clearTimeout(leaving);
    if (!hasLeft) connection.close();
  }
}

function requestBytes(path: string, key: string, body: unknown): Uint8Array {
  const content = new TextEncoder().encode(JSON.stringify(body));
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${key}`,
    "msg-version: 2023-06-01",
    "content-type: application/json",
    `content-length: ${content.length}`,
    "connection: close",
    "\r\n",
  ].join("\r\n");
  return new Uint8Array([...new TextEncoder().encode(head), ...content]);
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

/** Reads the start of a response, and passes over the rest. */
async function readToEnd(connection: Deno.Conn): Promise<string> {
  const chunk = new Uint8Array(65_536);
  let start = "";
  for (let length = await connection.read(chunk); length !== null; length = await connection.read(chunk)) {
    if (start.length < 64) start += new TextDecoder("latin1").decode(chunk.subarray(0, Math.min(length, 64)));
  }
  return start;
}

function statusIn(start: string): number {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1];
  if (status === undefined) throw new Deno.errors.UnexpectedEof("no response");
  return Number(status);
}

/** What vendors do in the middle of a reply. */
const FAULTS = [
  "",
  "",
  "",
  "",
  "[[cut 4]]",
  "[[close 3]]",
  "[[error 2]]",
  "[[flaky 1]]",
  "[[stall 60]]",
  "[[nousage]]",
];

function requestOf(random: SeededRandom): CallerRequest {
  const text = `Say it [[words ${random.between(3, 60)}]] [[gap ${random.between(0, 4)}]] ${random.pick(FAULTS)} ` +
    random.between(0, 1_000_000);
  const stream = random.chance(0.8);
  const messages = [{ role: "user", content: text }];
  const model = random.pick(["soak/chat", "soak/content", "soak/both"]);
  switch (random.between(0, 6)) {
    case 0:
    case 1:
      return { path: "/v1/chat/completions", body: { model, messages, stream, max_tokens: 200 } };
    case 2:
      return { path: "/v1/responses", body: { model, input: text, stream, max_output_tokens: 200 } };
    case 3:
      return { path: "/msgcompat/v1/messages", body: { model, messages, stream, max_tokens: 200 } };
    case 4: {
      const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return { path: `/gencompat/v1beta/models/${model}:${verb}`, body: { contents: [{ parts: [{ text }] }] } };
    }
    case 5:
      return { path: "/v1/embeddings", body: { model: "soak/embedding", input: text } };
    default:
      return { path: "/v1/audio/speech", body: { model: "soak/speech", input: text, voice: "alloy" } };
  }
}
