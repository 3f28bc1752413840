import { readCidr } from "../../src/platform/net/address.ts";
import type { EgressPolicy } from "../../src/platform/net/target.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { CERTIFICATE, KEY, ROOT } from "./certificates.ts";

/** A received request. */
export interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Unix milliseconds when it was read completely. */
  readonly at: number;
}

/**
 * Handles a request: with a response, or with an action on the connection. The connection is then closed, unless the
 * outcome is "next": then the next request is read.
 */
export type Behaviour = (request: Received, connection: Deno.TlsConn) => Promise<Outcome> | Outcome;
type Outcome = "next" | void;

/** An https server for one test. */
export interface Receiver {
  readonly port: number;
  readonly received: readonly Received[];
  /** Total number of connections. */
  readonly connections: number;
  /** Number of open connections, as far as known. */
  readonly open: number;
  stop(): Promise<void>;
}

/**
 * The egress policy of these tests: every name resolves to loopback, which is allowed, and the tests' root is trusted.
 */
export const LOOPBACK: EgressPolicy = {
  allow: [readCidr("127.0.0.1/32")],
  own: [],
  resolve: () => Promise.resolve(["127.0.0.1"]),
  caCertificates: [ROOT],
};

/** Starts a receiver that handles every request in the same way, by default at a free port of loopback. */
export function startReceiver(
  behave: Behaviour,
  certificate = CERTIFICATE,
  { hostname = "127.0.0.1", port = 0 }: { readonly hostname?: string; readonly port?: number } = {},
): Receiver {
  const listener = Deno.listenTls({ hostname, port, cert: certificate, key: KEY });
  let connections = 0;
  const open = new Set<Deno.TlsConn>();
  const received: Received[] = [];
  const serve = async (connection: Deno.TlsConn) => {
    open.add(connection);
    connections++;
    try {
      for (let outcome: Outcome = "next"; outcome === "next";) {
        const request = await readRequest(connection);
        if (request === null) return;
        received.push(request);
        outcome = await behave(request, connection);
      }
    } catch {
      // The gateway closed the connection or rejected the certificate.
    } finally {
      open.delete(connection);
      close(connection);
    }
  };
  const serving = new Set<Promise<void>>();
  const accepting = (async () => {
    for (;;) {
      try {
        const work = serve(await listener.accept());
        serving.add(work);
        void work.finally(() => serving.delete(work));
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      }
    }
  })();
  return {
    port: listener.addr.port,
    received,
    get connections() {
      return connections;
    },
    get open() {
      return open.size;
    },
    async stop() {
      listener.close();
      for (const connection of open) close(connection);
      await accepting;
      await Promise.all(serving);
    },
  };
}

/** Responds with a status and headers, without a body. */
export function respondWith(status: number, headers: Readonly<Record<string, string>> = {}): Behaviour {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return (_request, connection) => sendText(connection, `HTTP/1.1 ${status} Any\r\n${lines}content-length: 0\r\n\r\n`);
}

/** Responds like {@linkcode respondWith} and keeps the connection open. */
export function respondKeepAlive(status: number): Behaviour {
  return async (request, connection) => {
    await respondWith(status)(request, connection);
    return "next" as const;
  };
}

/** Never responds; ends when the other side closes. */
export async function neverRespond(_request: Received, connection: Deno.TlsConn): Promise<void> {
  while (await connection.read(new Uint8Array(1_024)) !== null);
}

/** Sends text. */
export async function sendText(connection: Deno.TlsConn, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

async function readRequest(connection: Deno.TlsConn): Promise<Received | null> {
  const chunk = new Uint8Array(65_536);
  let bytes = new Uint8Array(0);
  for (;;) {
    const end = new TextDecoder("latin1").decode(bytes).indexOf("\r\n\r\n");
    if (end >= 0) {
      const [first, ...lines] = atLeast(new TextDecoder("latin1").decode(bytes.subarray(0, end)).split("\r\n"), 1);
      const headers = new Headers(lines.map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }));
      const body = bytes.slice(end + 4);
      if (body.length >= Number(headers.get("content-length") ?? 0)) {
        return { path: itemAt(first.split(" "), 1), headers, body, at: Date.now() };
      }
    }
    const read = await connection.read(chunk);
    if (read === null) return null;
    const longer = new Uint8Array(bytes.length + read);
    longer.set(bytes);
    longer.set(chunk.subarray(0, read), bytes.length);
    bytes = longer;
  }
}

function close(connection: Deno.TlsConn): void {
  try {
    connection.close();
  } catch {
    // Already closed.
  }
}
