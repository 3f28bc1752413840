import { atLeast } from "./items.ts";

/** One request as it was on the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Headers by lower-case name. */
  readonly headers: Headers;
  readonly body: string;
}

/** One connection to the scripted vendor, seen from the vendor's side. */
export interface VendorConnection {
  /** The index of the connection, from 0. */
  readonly nth: number;
  /** The next request on the connection; null when the client closed it. */
  request(): Promise<WireRequest | null>;
  /** Writes bytes; false when the client has disconnected. */
  say(text: string | Uint8Array): Promise<boolean>;
  /** Closes the connection. */
  close(): void;
  /** Resolves when the client has closed the connection. */
  gone(): Promise<void>;
}

/** A vendor on loopback whose responses a test writes byte by byte. */
export interface ScriptedUpstream {
  readonly baseUrl: string;
  readonly port: number;
  /** All requests so far, in order of arrival. */
  readonly seen: readonly WireRequest[];
  /** The number of connections. */
  readonly connections: number;
  stop(): Promise<void>;
}

/** Starts a vendor; `script` runs for each connection, which is closed at its end. */
export function startScriptedUpstream(script: (side: VendorConnection) => Promise<void>): ScriptedUpstream {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const seen: WireRequest[] = [];
  const running = new Set<Promise<void>>();
  const open = new Set<Deno.Conn>();
  let connections = 0;
  const serving = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      const one = script(vendorSide(connection, connections++, seen)).catch(() => {}).finally(() => {
        closeQuietly(connection);
        running.delete(one);
      });
      running.add(one);
    }
  })();
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    port,
    seen,
    get connections() {
      return connections;
    },
    async stop() {
      listener.close();
      open.forEach(closeQuietly);
      await serving;
      await Promise.all(running);
    },
  };
}

/** A complete response with its length. */
export function answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { "content-type": "application/json", ...headers, "content-length": String(encoder.encode(body).length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${status} Whatever\r\n${lines}\r\n${body}`;
}

/** The head of an event stream that ends with the connection. */
export const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/** A script that answers every request on every connection with the same bytes. */
export function always(bytes: string): (side: VendorConnection) => Promise<void> {
  return async (side) => {
    while (await side.request() !== null) await side.say(bytes);
  };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function vendorSide(connection: Deno.Conn, nth: number, seen: WireRequest[]): VendorConnection {
  const buffer = new Uint8Array(65_536);
  let text = "";
  async function more(): Promise<boolean> {
    const count = await connection.read(buffer).catch(() => null);
    if (count !== null) text += latin1(buffer.subarray(0, count));
    return count !== null;
  }
  return {
    nth,
    async request() {
      let head: number;
      while ((head = text.indexOf("\r\n\r\n")) < 0) if (!await more()) return null;
      const [line, ...fields] = atLeast(text.slice(0, head).split("\r\n"), 1);
      const headers = new Headers(fields.map((field) => splitField(field)));
      const end = head + 4 + Number(headers.get("content-length") ?? 0);
      while (text.length < end) if (!await more()) return null;
      const body = decoder.decode(Uint8Array.from(text.slice(head + 4, end), (sign) => sign.charCodeAt(0)));
      text = text.slice(end);
      const [method, path] = atLeast(line.split(" "), 2);
      const request = { method, path, headers, body };
      seen.push(request);
      return request;
    },
    async say(said) {
      const bytes = typeof said === "string" ? encoder.encode(said) : said;
      try {
        for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
        return true;
      } catch {
        return false;
      }
    },
    close: () => closeQuietly(connection),
    async gone() {
      while (await more());
    },
  };
}

function splitField(field: string): [string, string] {
  const colon = field.indexOf(":");
  return [field.slice(0, colon), field.slice(colon + 1).trim()];
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // Already closed by the script.
  }
}

/** A whole chat completion with one text. */
export function chatReply(content: string, usage: { readonly prompt: number; readonly completion: number }): string {
  const { prompt, completion } = usage;
  return answer(
    200,
    JSON.stringify({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    }),
  );
}
