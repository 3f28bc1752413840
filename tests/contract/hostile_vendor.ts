import { ioTurn } from "../support/io_turn.ts";
import { itemAt } from "../support/items.ts";
import type { HostileCase } from "./hostile_cases.ts";

/** The HTTP client under test. */
export interface ClientUnderTest {
  /**
   * Sends one request and reads the whole response. Throws the client's errors, and on timeout.
   *
   * @param body Null for a request without a body.
   */
  call(request: TestRequest): Promise<TestResponse>;
  /** Closes its connections. */
  close(): void | Promise<void>;
}

/** A request to the client. */
export interface TestRequest {
  readonly port: number;
  readonly method: "GET" | "HEAD" | "POST";
  readonly path: string;
  readonly body: Uint8Array<ArrayBuffer> | null;
  /** Cancels the call. */
  readonly signal: AbortSignal;
}

/** The client's result. */
export interface TestResponse {
  readonly status: number;
  readonly body: string;
}

/** The time limit for one call, reached only if the vendor never completes its response. */
const MAX_CALL_MS = 1_000;
const MAX_HONEST_CALL_MS = 20_000;
/** A client that reads this much of an endless response has no limit. */
const MAX_ENDLESS_BYTES = 48_000_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Runs one case. The vendor treats the client's first request as the case describes, and responds correctly to all
 * others.
 *
 * @returns What went wrong; null if the case has its outcome and the next two exchanges have their own responses.
 */
export async function runCase(one: HostileCase, client: ClientUnderTest): Promise<string | null> {
  const vendor = startHostileVendor(one);
  const ask = (path: string, ms: number) =>
    client.call({
      port: vendor.port,
      method: path === "/first" ? one.method ?? "POST" : "POST",
      path,
      body: one.method === undefined || path !== "/first" ? bodyOf(path === "/first" ? one.requestBytes : 2) : null,
      signal: AbortSignal.timeout(ms),
    });
  try {
    const first = await ask("/first", one.then === "hangs" ? MAX_CALL_MS : MAX_HONEST_CALL_MS).then(
      ({ status, body }) => ({ status, body }),
      () => "fails" as const,
    );
    const { outcome } = one;
    if (outcome === "fails" && first !== "fails") return `it read ${JSON.stringify(first).slice(0, 200)}`;
    if (typeof outcome === "object") {
      if (first === "fails") return "it failed";
      const isSame = first.status === outcome.status && first.body === outcome.body;
      if (!isSame) return `it read ${JSON.stringify(first).slice(0, 200)}`;
    }
    if (vendor.writtenBytes() > MAX_ENDLESS_BYTES) return "it read on without a bound";
    await vendor.firstIsOver();
    const rest = ["/second", "/third"];
    if (one.crosses !== undefined) {
      await ask(rest.shift() ?? "", MAX_HONEST_CALL_MS).catch(() => {});
      await vendor.secondIsOver();
    }
    for (const path of rest) {
      const { status, body } = await ask(path, MAX_HONEST_CALL_MS);
      if (status !== 200 || body !== `own:${path}`) return `the exchange after it read ${status} ${body.slice(0, 100)}`;
    }
    return null;
  } catch (error) {
    return `the exchange after it failed: ${error instanceof Error ? error.message : error}`;
  } finally {
    await client.close();
    await vendor.stop();
  }
}

function bodyOf(bytes = 2): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes).fill(120);
}

interface HostileVendor {
  readonly port: number;
  /** The number of bytes of an endless response that the client has read. */
  writtenBytes(): number;
  /**
   * Reports that the first exchange has ended. Resolves after the client could have noticed what the vendor did then.
   */
  firstIsOver(): Promise<void>;
  /** Resolves when the first connection was closed, as the client does when it notices a second response. */
  secondIsOver(): Promise<void>;
  stop(): Promise<void>;
}

function startHostileVendor(one: HostileCase): HostileVendor {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.TcpConn>();
  const firstOver = Promise.withResolvers<void>();
  const hasActed = Promise.withResolvers<void>();
  const secondOver = Promise.withResolvers<void>();
  let written = 0;
  const serve = async (connection: Deno.TcpConn, isFirst: boolean) => {
    if (isFirst && one.greets !== undefined) await write(connection, one.greets);
    const requests = new RequestReader(connection);
    for (let nth = 0;; nth++) {
      if (nth === 1 && isFirst && one.crosses !== undefined) {
        if (!await requests.begins()) return;
        await write(connection, one.crosses);
      }
      const path = await requests.next(one.reads === "head");
      if (path === null) return;
      if (path !== "/first") {
        await write(connection, reply(`own:${path}`));
        continue;
      }
      for (const piece of typeof one.says === "string" ? [one.says] : one.says) {
        await write(connection, piece);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      if (one.endless !== undefined) {
        const piece = encoder.encode(one.endless.repeat(Math.ceil(65_536 / one.endless.length)));
        while (written <= MAX_ENDLESS_BYTES) written += await connection.write(piece);
      }
      if (one.then === "closes") return;
      if (one.later !== undefined) {
        await firstOver.promise;
        await write(connection, one.later);
      }
      hasActed.resolve();
      await requests.skipBody();
    }
  };
  const serving = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      const isFirst = open.size === 1;
      serve(connection, isFirst).catch(() => {}).finally(() => {
        close(connection);
        if (!isFirst) return;
        hasActed.resolve();
        secondOver.resolve();
      });
    }
  })();
  return {
    port: listener.addr.port,
    writtenBytes: () => written,
    async firstIsOver() {
      firstOver.resolve();
      await hasActed.promise;
      await ioTurn();
    },
    secondIsOver: () => secondOver.promise,
    async stop() {
      listener.close();
      open.forEach(close);
      await serving;
    },
  };
}

/** Returns a correct response. */
export function reply(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Reads requests from a connection, one after another. */
class RequestReader {
  #text = "";
  #bodyLeft = 0;
  readonly #buffer = new Uint8Array(65_536);

  constructor(readonly connection: Deno.TcpConn) {}

  /** Returns the path of the next request; null at the end. Also reads its body, unless `headOnly` is set. */
  async next(headOnly: boolean): Promise<string | null> {
    let end: number;
    while ((end = this.#text.indexOf("\r\n\r\n")) < 0) if (!await this.#more()) return null;
    const head = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 4);
    this.#bodyLeft = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const path = itemAt(head.split(" "), 1);
    if (!(headOnly && path === "/first")) await this.skipBody();
    return path;
  }

  /** Resolves when the first bytes of the next request have come; false at the end. */
  async begins(): Promise<boolean> {
    return this.#text !== "" || await this.#more();
  }

  async skipBody(): Promise<void> {
    while (this.#text.length < this.#bodyLeft) {
      this.#bodyLeft -= this.#text.length;
      this.#text = "";
      if (!await this.#more()) return;
    }
    this.#text = this.#text.slice(this.#bodyLeft);
    this.#bodyLeft = 0;
  }

  async #more(): Promise<boolean> {
    const count = await this.connection.read(this.#buffer);
    if (count !== null) this.#text += decoder.decode(this.#buffer.subarray(0, count));
    return count !== null;
  }
}

/** Writes text in which every character is one byte. */
async function write(connection: Deno.TcpConn, text: string): Promise<void> {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // Already closed.
  }
}
